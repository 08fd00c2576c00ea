# SPDX-License-Identifier: MIT
"""A network with a frozen trunk and two heads, fine-tuned with SGD in two groups; the best weights are kept
in the host's memory, and an evaluation follows each epoch."""
import torch
from torch import nn
from torch.nn import functional as F

from moments import moment, saved_for_backward


def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, 2, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU6())


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(stage(3, 24), stage(24, 48))
        self.neck = nn.Sequential(stage(48, 64), nn.Conv2d(64, 64, 3, 1, 1, groups=64), nn.Hardswish(),
                                  nn.Upsample(scale_factor=2))
        self.kind = nn.Conv2d(64 + 48, 6, 1)
        self.place = nn.Conv2d(64 + 48, 4, 1)

    def forward(self, x):
        low = self.trunk(x)
        x = torch.cat([self.neck(low), low], 1)
        return self.kind(x), self.place(x)


def criterion(outputs, kinds, places):
    kind, place = outputs
    return F.cross_entropy(kind, kinds) + 5 * F.smooth_l1_loss(place, places)


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.rand(3, 64, 64), torch.zeros(16, 16, dtype=torch.long), torch.rand(4, 16, 16)


def main():
    model = Detector()
    for parameter in model.trunk.parameters():
        parameter.requires_grad = False
    model.cuda()
    optimizer = torch.optim.SGD([{"params": model.neck.parameters(), "lr": 1e-3},
                                 {"params": [*model.kind.parameters(), *model.place.parameters()]}],
                                lr=1e-2, momentum=0.9, weight_decay=1e-4)
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=8, shuffle=True, pin_memory=True)
    for _ in range(2):
        model.train()
        for batch in loader:
            images, kinds, places = (tensor.cuda(non_blocking=True) for tensor in batch)
            optimizer.zero_grad()
            with saved_for_backward(model, images, kinds, places) as saved:
                loss = criterion(model(images), kinds, places)
            moment("forward", model, optimizer, saved)
            loss.backward()
            moment("backward", model, optimizer)
            optimizer.step()
            moment("step", model, optimizer)
        model.eval()
        total = 0.0
        with torch.inference_mode():
            for batch in loader:
                images, kinds, places = (tensor.cuda() for tensor in batch)
                total += criterion(model(images), kinds, places).item()
        best = {name: value.cpu() for name, value in model.state_dict().items()}
        moment("evaluated", model, optimizer)
    model.load_state_dict(best)


main()
