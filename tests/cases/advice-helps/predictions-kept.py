# SPDX-License-Identifier: MIT
"""Trains and keeps the predictions of each step for a plot. --host: keeps them in host memory."""
import sys

import torch
from torch import nn

HOST = "--host" in sys.argv
model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 4096)).cuda()
optimizer = torch.optim.Adam(model.parameters())
kept = []
for step in range(40):
    x, y = torch.randn(2048, 1024, device="cuda"), torch.randn(2048, 4096, device="cuda")
    predicted = model(x)
    nn.functional.mse_loss(predicted, y).backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(predicted.detach().cpu() if HOST else predicted.detach())
print(len(kept), torch.cuda.max_memory_allocated(), flush=True)
