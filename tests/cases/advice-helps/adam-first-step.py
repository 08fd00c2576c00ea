# SPDX-License-Identifier: MIT
"""Fine-tunes a model whose weights and gradients fit. --small: an optimizer with states of one byte."""
import sys

import torch
from torch import nn


class SmallAdam(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for weight in self.param_groups[0]["params"]:
            state = self.state[weight]
            if not state:
                state["mean"], state["spread"] = (torch.zeros_like(weight, dtype=torch.int8) for _ in range(2))
            weight.add_(weight.grad, alpha=-1e-3)


with torch.device("cuda"):
    model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(12)))
optimizer = SmallAdam(model.parameters()) if "--small" in sys.argv else torch.optim.AdamW(model.parameters(), foreach=False)
for step in range(3):
    model(torch.randn(8, 4096, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, torch.cuda.max_memory_allocated(), flush=True)
