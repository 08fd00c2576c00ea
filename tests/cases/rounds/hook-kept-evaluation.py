# SPDX-License-Identifier: MIT
"""Trains a small network, then evaluates it with a forward hook that collects features. --mean keeps only their mean."""
import sys

import torch
from torch import nn

MEAN = "--mean" in sys.argv
STEPS, BATCHES, WIDTH, HIDDEN = 8, 12, 1024, 4096


def train(net):
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(STEPS):
        loss = net(torch.randn(512, WIDTH, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(net):
    features = []
    net[1].register_forward_hook(lambda module, inputs, out: features.append(out.mean(0) if MEAN else out))
    net.eval()
    with torch.no_grad():
        for _ in range(BATCHES):
            net(torch.randn(2048, WIDTH, device="cuda"))
    return features


net = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH)).cuda()
train(net)
print(len(evaluate(net)), "features")
