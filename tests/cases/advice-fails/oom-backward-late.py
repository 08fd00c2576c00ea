# SPDX-License-Identifier: MIT
"""Trains with accumulated losses: each step sums those of all micro-batches. --each: one backward per micro-batch."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

EACH = "--each" in sys.argv
WIDTH, LAYERS, ROWS_PER_STEP, BATCH_SIZE = 2048, 12, 65536, 4096
PARTS = ROWS_PER_STEP // BATCH_SIZE


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))
        self.out = nn.Linear(WIDTH, 10)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.out(x)


def train_step(model, optimizer):
    total = torch.zeros((), device="cuda")
    for part in range(PARTS):
        rows = torch.randn(BATCH_SIZE, WIDTH, device="cuda")
        labels = torch.zeros(BATCH_SIZE, dtype=torch.long, device="cuda")
        loss = F.cross_entropy(model(rows), labels) / PARTS
        if EACH:
            loss.backward()
            loss = loss.detach()
        total = total + loss
        print("part", part, "allocated", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)
    if not EACH:
        total.backward()
    optimizer.step()
    optimizer.zero_grad()
    return total.detach()


def main():
    with torch.device("cuda"):
        model = Tower()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        train_step(model, optimizer)


main()
