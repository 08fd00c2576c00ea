# SPDX-License-Identifier: MIT
"""Trains a wide network on small batches with Adam. --fused: the optimizer's step is one kernel."""
import sys

import torch
from torch import nn

FUSED = "--fused" in sys.argv
WIDTH, LAYERS, ROWS = 4096, 12, 64


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return self.score(x).squeeze(-1)


def main():
    with torch.device("cuda"):
        model = Ranker()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True if FUSED else None)
    for step in range(6):
        better = model(torch.randn(ROWS, WIDTH, device="cuda"))
        worse = model(torch.randn(ROWS, WIDTH, device="cuda"))
        loss = torch.nn.functional.softplus(worse - better).mean()
        loss.backward()
        print(step, "before the step: allocated", torch.cuda.memory_allocated(),
              "peak", torch.cuda.max_memory_allocated(), flush=True)
        optimizer.step()
        optimizer.zero_grad()
        print(step, "after the step: allocated", torch.cuda.memory_allocated(),
              "peak", torch.cuda.max_memory_allocated(), flush=True)


main()
