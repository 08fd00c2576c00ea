# SPDX-License-Identifier: MIT
"""Trains two towers of the same size against each other. Both are trained, so neither is a second model to be moved."""
import torch
from torch import nn

WIDTH, LAYERS, STEPS = 2048, 8, 6


def tower():
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(LAYERS)])


def main():
    texts = tower().cuda()
    pictures = tower().cuda()
    optimizer = torch.optim.AdamW([*texts.parameters(), *pictures.parameters()], lr=1e-4, foreach=False)
    for _ in range(STEPS):
        batch = torch.zeros(128, WIDTH, device="cuda")
        loss = (texts(batch) @ pictures(batch).T).logsumexp(1).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
