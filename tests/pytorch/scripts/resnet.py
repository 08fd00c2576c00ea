# SPDX-License-Identifier: MIT
"""Residual blocks, a DataLoader, half precision with a GradScaler, clipping, SGD with Nesterov's momentum."""
import torch
from torch import nn

from moments import moment, saved_for_backward


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def main():
    data = torch.utils.data.TensorDataset(torch.zeros(96, 3, 32, 32), torch.zeros(96, dtype=torch.long))
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(32, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler("cuda")
    for images, labels in torch.utils.data.DataLoader(data, batch_size=16):
        images, labels = images.cuda(), labels.cuda()
        with torch.autocast("cuda", dtype=torch.float16), saved_for_backward(model, images, labels) as saved:
            loss = nn.functional.cross_entropy(model(images), labels)
        moment("forward", model, optimizer, saved)
        scaler.scale(loss).backward()
        moment("backward", model, optimizer)
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        moment("step", model, optimizer)
        optimizer.zero_grad()
        moment("zero_grad", model, optimizer)


main()
