# SPDX-License-Identifier: MIT
"""Encodes one window with 32-bit weights under autocast, without gradients. --nocache: autocast keeps nothing."""
import sys

import torch
from torch import nn

KEEP_CASTS = "--nocache" not in sys.argv
WIDTH, BLOCKS = 2048, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


class Processor(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@torch.no_grad()
def encode(model):
    with torch.autocast("cuda", dtype=torch.float16, cache_enabled=KEEP_CASTS):
        for window in range(4):
            model(torch.randn(512, WIDTH, device="cuda"))
            print(window + 1, torch.cuda.memory_allocated(), flush=True)
    print("after", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated())


with torch.device("cuda"):
    processor = Processor()
encode(processor)
