# SPDX-License-Identifier: MIT
"""Moves a set of images to the card as bytes and makes all of them float there. --batches: makes each batch float."""
import sys

import torch
from torch import nn

BATCHES = "--batches" in sys.argv


class Images:
    def __init__(self, count):
        raw = torch.randint(0, 255, (count, 3, 64, 64), dtype=torch.uint8)
        raw = raw.cuda()
        self.images = raw if BATCHES else raw.float().div_(255)
        self.labels = torch.randint(0, 10, (count,)).cuda()

    def batches(self, size):
        for at in range(0, 20 * size, size):
            x = self.images[at:at + size]
            yield x.float().div_(255) if BATCHES else x, self.labels[at:at + size]


def main():
    data = Images(16000)
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for x, y in data.batches(64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    print(torch.cuda.max_memory_allocated())


main()
