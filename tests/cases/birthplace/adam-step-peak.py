# SPDX-License-Identifier: MIT
"""Trains a tower of linear layers with Adam. --loop updates one parameter at a time."""
import sys

import torch
from torch import nn

LOOP = "--loop" in sys.argv
WIDTH, LAYERS, BATCH, STEPS = 2048, 24, 256, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return x + torch.relu(self.up(self.norm(x)))


def main():
    model = nn.Sequential(*[Block() for _ in range(LAYERS)]).cuda()
    options = {"foreach": False} if LOOP else {}
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, **options)
    before_update, in_update = 0, 0
    for step in range(STEPS):
        x = torch.randn(BATCH, WIDTH, device="cuda")
        loss = (model(x) - x).square().mean()
        loss.backward()
        before_update = max(before_update, torch.cuda.max_memory_allocated())
        torch.cuda.reset_peak_memory_stats()
        optimizer.step()
        in_update = max(in_update, torch.cuda.max_memory_allocated())
        optimizer.zero_grad()
        torch.cuda.reset_peak_memory_stats()
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    print("weights", weights, "peak of forward and backward", before_update, "peak of the update", in_update, flush=True)


main()
