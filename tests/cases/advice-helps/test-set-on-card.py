# SPDX-License-Identifier: MIT
"""Moves a test set to the card, then trains and tests. --lazy: moves each batch when it is used."""
import sys

import torch
from torch import nn

LAZY = "--lazy" in sys.argv
model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tests = [torch.randn(4096, 4096) for _ in range(12)]
if not LAZY:
    tests = [batch.cuda() for batch in tests]
for step in range(3):
    x = torch.randn(4096, 4096, device="cuda")
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    for batch in tests:
        print(model(batch.cuda()).argmax(1).sum().item(), flush=True)
print(torch.cuda.max_memory_allocated(), flush=True)
