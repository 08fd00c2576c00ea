# SPDX-License-Identifier: MIT
"""Trains a network, then evaluates it on larger batches and keeps nothing."""
import torch
from torch import nn

STEPS, BATCHES = 8, 12

net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(STEPS):
    loss = net(torch.randn(512, 1024, device="cuda")).square().mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
right = 0
with torch.no_grad():
    for _ in range(BATCHES):
        scores = net(torch.randn(2048, 1024, device="cuda"))
        right = right + scores.argmax(1).sum()
print("evaluated", BATCHES)
