# SPDX-License-Identifier: MIT
"""Trains an autoencoder, then sums its loss over a test set without no_grad(). --item sums numbers of the host."""
import sys

import torch
from torch import nn

ITEM = "--item" in sys.argv
STEPS, BATCHES, WIDTH = 10, 20, 768

encoder = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)).cuda()
adam = torch.optim.Adam(encoder.parameters())
for _ in range(STEPS):
    batch = torch.randn(256, WIDTH, device="cuda")
    adam.zero_grad()
    (encoder(batch) - batch).pow(2).mean().backward()
    adam.step()

total = 0
for _ in range(BATCHES):
    batch = torch.randn(1024, WIDTH, device="cuda")
    loss = (encoder(batch) - batch).pow(2).mean()
    total = total + (loss.item() if ITEM else loss)
print("summed", BATCHES)
