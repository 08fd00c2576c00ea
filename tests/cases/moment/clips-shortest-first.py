# SPDX-License-Identifier: MIT
"""Measures a model on clips of growing length, then fine-tunes it on short ones. --longest: measures the longest clip first."""
import sys

import torch
from torch import nn

LENGTHS = [2048, 2560, 3072, 3584, 4096, 4608, 5120, 5632]
if "--longest" in sys.argv:
    LENGTHS.reverse()
WIDTH, HEADS, BLOCKS = 512, 8, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        clips, length, _ = x.shape
        query, key, value = self.into(x).view(clips, length, HEADS, -1).transpose(1, 2).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(2, 3), dim=-1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(clips, length, WIDTH))
        return x + self.feed(x)


def books(when):
    print(when, "live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(),
          "reserved", torch.cuda.memory_reserved(), flush=True)


@torch.no_grad()
def measure(model):
    for length in LENGTHS:
        model(torch.randn(1, length, WIDTH, device="cuda")).mean()
        books(f"clip of {length}")


def fine_tune(model):
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(12):
        loss = model(torch.randn(40, 384, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    books("fine-tuned")


with torch.device("cuda"):
    encoder = nn.Sequential(*(Block() for _ in range(BLOCKS)))
measure(encoder)
fine_tune(encoder)
