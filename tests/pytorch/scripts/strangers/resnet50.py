# SPDX-License-Identifier: MIT
"""Trains a ResNet-50 with SGD for three steps; prints PyTorch's own figures of its memory at the end."""
import json

import torch
from torch import nn
from torch.nn import functional as F


def normed(inputs, outputs, size, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.first, self.second = normed(inputs, width, 1), normed(width, width, 3, stride)
        self.third = normed(width, 4 * width, 1)
        self.down = None if inputs == 4 * width and stride == 1 else normed(inputs, 4 * width, 1, stride)

    def forward(self, x):
        inner = F.relu(self.first(x), inplace=True)
        inner = F.relu(self.second(inner), inplace=True)
        return F.relu(self.third(inner) + (x if self.down is None else self.down(x)), inplace=True)


def resnet50():
    blocks, inputs = [], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(count):
            blocks.append(Bottleneck(inputs, width, 1 if number else stride))
            inputs = 4 * width
    stem = nn.Sequential(normed(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
    return nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


model = resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for _ in range(3):
    images, labels = torch.randn(8, 3, 128, 128, device="cuda"), torch.randint(1000, (8,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
cuda = torch.cuda
print(json.dumps({"parameters": sum(weight.numel() for weight in model.parameters()),
                  "peak_live_bytes": cuda.max_memory_allocated(), "peak_reserved_bytes": cuda.max_memory_reserved(),
                  "live_at_exit_bytes": cuda.memory_allocated()}))  # fmt: skip
