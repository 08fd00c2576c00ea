# SPDX-License-Identifier: MIT
"""Trains one encoder per seed on three data sets. --forget: the model's card lets go of the trainer at the end of a run."""
import gc
import sys

import torch
from torch import nn

FORGET = "--forget" in sys.argv
WIDTH, LAYERS, SEEDS, STEPS = 1024, 4, 8, 3


class Card:
    def __init__(self):
        self.trainer = None
        self.seen_steps = 0


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, device="cuda") for _ in range(LAYERS))
        self.card = Card()

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
        model.card.trainer = self

    def train(self, rows):
        for _ in range(STEPS):
            first = self.model(torch.randn(rows, WIDTH, device="cuda"))
            second = self.model(torch.randn(rows, WIDTH, device="cuda"))
            loss = (1 - torch.cosine_similarity(first, second)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.model.card.seen_steps += 1


def run_seed(seed, rows):
    torch.manual_seed(seed)
    model = Encoder()
    Trainer(model).train(rows)
    if FORGET:
        model.card.trainer = None


for rows in (128, 256, 512):
    for seed in range(SEEDS):
        run_seed(seed, rows)
        print("rows", rows, "seed", seed, "allocated", torch.cuda.memory_allocated(), flush=True)
    gc.collect()
    print("collected", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)
