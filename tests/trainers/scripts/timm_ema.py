# SPDX-License-Identifier: MIT
"""timm, with the loop of its train.py: its optimizer factory, scheduler and loss, an average of the weights (ModelEmaV2),
and a validation of the model and of the average after each epoch."""
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV2, accuracy, dispatch_clip_grad

from count import Watch

data = torch.utils.data.TensorDataset(torch.randn(32, 3, 64, 64), torch.randint(0, 10, (32,)))
loader = torch.utils.data.DataLoader(data, batch_size=8, pin_memory=True)
model = timm.create_model("vit_tiny_patch16_224", num_classes=10, img_size=64, depth=4, drop_path_rate=0.1).cuda()
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
average = ModelEmaV2(model, decay=0.99)
watch = Watch(model, average.module)
schedule = CosineLRScheduler(optimizer, t_initial=2)
mixup, train_loss, loss_function = Mixup(mixup_alpha=0.2, num_classes=10), SoftTargetCrossEntropy(), torch.nn.CrossEntropyLoss()


def train_one_epoch():
    losses = AverageMeter()
    model.train()
    for images, labels in loader:
        images, labels = mixup(images.cuda(non_blocking=True), labels.cuda(non_blocking=True))
        loss = train_loss(model(images), labels)
        watch.loss(loss, labels)
        optimizer.zero_grad()
        loss.backward()
        dispatch_clip_grad(model.parameters(), 1.0)
        optimizer.step()
        average.update(model)
        losses.update(loss.item(), len(images))
        watch.step()


def validate(of):
    top1 = AverageMeter()
    of.eval()
    with torch.inference_mode():
        for images, labels in loader:
            images, labels = images.cuda(), labels.cuda()
            scores = of(images)
            loss_function(scores, labels)
            top1.update(accuracy(scores, labels)[0].item(), len(images))
    return top1.avg


for epoch in range(2):
    train_one_epoch()
    validate(model)
    validate(average.module)
    schedule.step(epoch + 1)
