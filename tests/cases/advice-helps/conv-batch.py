# SPDX-License-Identifier: MIT
"""Trains a residual network on images. --half: half as many images in a batch."""
import sys

import torch
from torch import nn

BATCH = 32 if "--half" in sys.argv else 64


class Block(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.one, self.two = nn.Conv2d(into, out, 3, stride, 1), nn.Conv2d(out, out, 3, 1, 1)
        self.short = nn.Conv2d(into, out, 1, stride)

    def forward(self, x):
        return torch.relu(self.two(torch.relu(self.one(x))) + self.short(x))


model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), *(Block(*sizes) for sizes in ((64, 64, 1), (64, 128, 2), (128, 256, 2))),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)).cuda()  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    images, labels = torch.randn(BATCH, 3, 224, 224, device="cuda"), torch.randint(100, (BATCH,), device="cuda")
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, torch.cuda.max_memory_allocated(), flush=True)
