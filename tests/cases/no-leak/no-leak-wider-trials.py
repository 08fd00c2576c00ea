# SPDX-License-Identifier: MIT
"""Tries ever wider models. --reverse: the widest comes first."""
import sys

import torch
from torch import nn

REVERSE = "--reverse" in sys.argv
WIDTHS = (256, 512, 1024, 2048, 4096, 8192)


def trial(width, steps=5):
    model = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, 256)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        x = torch.randn(128, 256, device="cuda")
        loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


scores = {width: trial(width) for width in (WIDTHS[::-1] if REVERSE else WIDTHS)}
print(scores, torch.cuda.memory_allocated() >> 20)
