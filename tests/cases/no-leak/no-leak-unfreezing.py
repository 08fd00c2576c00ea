# SPDX-License-Identifier: MIT
"""Fine-tunes a network block by block from the top: every 4 steps one more block is trained, until all of them are.

--at-once trains all blocks from the first step.
"""
import argparse

import torch
from torch import nn

WIDTH, BLOCKS, BATCH, STEPS, EACH = 2048, 8, 64, 48, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(self.norm(x))))


def unfreeze(blocks, count):
    for block in blocks[len(blocks) - count:]:
        block.requires_grad_(True)


parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
at_once = parser.parse_args().at_once
model = nn.Sequential(*(Block() for _ in range(BLOCKS)), nn.Linear(WIDTH, 10)).cuda()
blocks = list(model)[:BLOCKS]
for block in blocks:
    block.requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for number in range(STEPS):
    unfreeze(blocks, BLOCKS if at_once else min(BLOCKS, 1 + number // EACH))
    x = torch.randn(BATCH, WIDTH, device="cuda")
    target = torch.randint(0, 10, (BATCH,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if number % 8 == 7:
        print(number + 1, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(),
              torch.cuda.memory_reserved(), flush=True)
