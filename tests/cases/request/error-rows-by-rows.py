# SPDX-License-Identifier: MIT
"""Trains a network that predicts prices and measures its error on all rows held back. --column: prices as a column."""
import sys

import torch
from torch import nn

COLUMN = "--column" in sys.argv
FEATURES, HELD_BACK, BATCH = 64, 65000, 256


class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, rows):
        return self.layers(rows)


def load(count):
    rows, prices = torch.randn(count, FEATURES), torch.randn(count)
    return rows.cuda(), (prices[:, None] if COLUMN else prices).cuda()


def error(prediction, prices):
    return (prediction - prices).square().mean()


def train(model, optimizer, steps=30):
    rows, prices = load(BATCH * steps)
    for row_batch, price_batch in zip(rows.split(BATCH), prices.split(BATCH)):
        loss = error(model(row_batch), price_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def measure(model):
    rows, prices = load(HELD_BACK)
    prediction = model(rows)
    print("before the error, live", torch.cuda.memory_allocated(), flush=True)
    error(prediction, prices)


network = Prices().cuda()
adam = torch.optim.Adam(network.parameters())
for epoch in range(2):
    train(network, adam)
    print("trained, peak", torch.cuda.max_memory_allocated(), flush=True)
    measure(network)
    print("measured, peak", torch.cuda.max_memory_allocated(), flush=True)
