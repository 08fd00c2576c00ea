# SPDX-License-Identifier: MIT
"""Trains on sentences that are sorted by length, the shortest first. --half: half as many sentences in a batch."""
import sys

import torch
from torch import nn

BATCH, WIDTH = (16 if "--half" in sys.argv else 32), 512


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(8000, WIDTH), nn.Linear(WIDTH, 50)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(6))

    def forward(self, words):
        x = self.embed(words)
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return self.head(x)


def train(model):
    optimizer = torch.optim.AdamW(model.parameters())
    for length in range(200, 950, 50):
        words = torch.randint(8000, (BATCH, length), device="cuda")
        loss = model(words).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(length, torch.cuda.max_memory_allocated(), flush=True)


train(Tagger().cuda())
