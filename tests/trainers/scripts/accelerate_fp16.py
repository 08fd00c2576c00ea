# SPDX-License-Identifier: MIT
"""Accelerate: a ResNet in float16 whose loss is scaled, with a schedule, and an evaluation after each epoch."""
import torch
from accelerate import Accelerator
from torch.nn import functional as F
from torchvision.models import resnet18

from count import Watch


def loader(batches):
    data = torch.utils.data.TensorDataset(torch.randn(8 * batches, 3, 64, 64), torch.randint(0, 10, (8 * batches,)))
    return torch.utils.data.DataLoader(data, batch_size=8)


accelerator = Accelerator(mixed_precision="fp16")
model = resnet18(num_classes=10)
watch = Watch(model, own_states=lambda: [accelerator.scaler._scale, accelerator.scaler._growth_tracker])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
model, optimizer, schedule, train, test = accelerator.prepare(model, optimizer, schedule, loader(4), loader(2))
for _ in range(2):
    model.train()
    for images, labels in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        watch.loss(loss, labels)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        watch.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in test:
            right += accelerator.gather_for_metrics((model(images).argmax(1) == labels)).sum().item()
