# SPDX-License-Identifier: MIT
"""Two networks with one optimizer each; every iteration leaks 512 KiB: gan.py
adam | critics | parts | sgd | sgd_parts"""
import sys

import torch
from torch import nn

STEPS = 40


def train(make, critics=1, parts=1):
    painter = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    critic = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
    paint, judge = make(painter.parameters()), make(critic.parameters())
    kept = []
    for _ in range(STEPS):
        for _ in range(critics):
            judge.zero_grad()
            for _ in range(parts):
                real = torch.randn(128, 256, device="cuda")
                fake = painter(torch.randn(128, 64, device="cuda")).detach()
                (critic(fake).mean() - critic(real).mean()).backward()
            judge.step()
        paint.zero_grad()
        for _ in range(parts):
            loss = -critic(painter(torch.randn(128, 64, device="cuda"))).mean()
            loss.backward()
        paint.step()
        kept.append(torch.zeros(512, 256, device="cuda"))


def descend(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


WAYS = {
    "adam": lambda: train(torch.optim.Adam),
    "critics": lambda: train(torch.optim.Adam, critics=3),
    "parts": lambda: train(torch.optim.Adam, parts=4),
    "sgd": lambda: train(descend),
    "sgd_parts": lambda: train(descend, parts=4),
}
WAYS[sys.argv[1]]()
