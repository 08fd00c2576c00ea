# SPDX-License-Identifier: MIT
"""Draws samples of a generator once in a while, and forgets torch.no_grad() there. --no-grad does not forget it."""
import contextlib
import sys

import torch
from torch import nn

GUARD = torch.no_grad if "--no-grad" in sys.argv else contextlib.nullcontext


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.InstanceNorm2d(b), nn.ReLU())


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 64), block(64, 64), block(64, 64), nn.Conv2d(64, 3, 3, padding=1))

    def forward(self, x):
        return torch.tanh(self.body(x))


def draw(net, count):
    rows = []
    for _ in range(count):
        x = torch.rand(1, 3, 128, 128, device="cuda")
        with GUARD():
            rows.append(net(x))
    return torch.cat(rows).detach().cpu().numpy()


def main():
    net = Generator().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(24):
        x = torch.rand(4, 3, 128, 128, device="cuda")
        optimizer.zero_grad()
        (net(x) - x).abs().mean().backward()
        optimizer.step()
        if step == 20:
            draw(net, 40)
    print(torch.cuda.max_memory_allocated())


main()
