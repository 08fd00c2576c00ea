# SPDX-License-Identifier: MIT
"""Trains on short batches, and then on a long one. --small: an optimizer with states of one byte."""
import sys

import torch
from torch import nn


class SmallAdam(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for weight in self.param_groups[0]["params"]:
            if not self.state[weight]:
                self.state[weight] = {name: torch.zeros_like(weight, dtype=torch.int8) for name in ("mean", "spread")}
            weight.add_(weight.grad, alpha=-1e-3)


model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(8))).cuda()
optimizer = SmallAdam(model.parameters()) if "--small" in sys.argv else torch.optim.Adam(model.parameters(), foreach=False)
for rows in (64, 64, 8192):
    model(torch.randn(rows, 4096, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    print(rows, torch.cuda.max_memory_allocated(), flush=True)
