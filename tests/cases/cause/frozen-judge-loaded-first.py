# SPDX-License-Identifier: MIT
"""Trains a writer whose texts a frozen judge of its size scores. --small: the judge has one layer."""
import sys

import torch
from torch import nn

WIDTH, LAYERS, STEPS = 1536, 10, 4


def tower(layers):
    rows = [nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)) for _ in range(layers)]
    return nn.Sequential(*rows)


def load_judge(layers):
    judge = tower(layers)
    judge.requires_grad_(False)
    return judge.to("cuda")


def run(judge):
    writer = tower(LAYERS).to("cuda")
    optimizer = torch.optim.Adam(writer.parameters(), lr=1e-4, foreach=False)
    for step in range(STEPS):
        texts = torch.zeros(2048, WIDTH, device="cuda")
        loss = judge(writer(texts)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step, flush=True)


run(load_judge(1 if "--small" in sys.argv else LAYERS))
