# SPDX-License-Identifier: MIT
"""Trains a transformer encoder with recomputation in backward. --blocks recomputes each block on its own."""
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

BLOCKS = "--blocks" in sys.argv
WIDTH, LAYERS, TOKENS, BATCH, STEPS = 512, 16, 512, 16, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(TOKENS, TOKENS)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.down(nn.functional.gelu(self.up(x)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])

    def forward(self, x):
        if not BLOCKS:
            return checkpoint(self.blocks, x, use_reentrant=False)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def main():
    model = Encoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(STEPS):
        x = torch.randn(BATCH, TOKENS, WIDTH, device="cuda")
        loss = (model(x) - x).abs().mean()
        after_forward = torch.cuda.memory_allocated()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("after forward", after_forward, "peak", torch.cuda.max_memory_allocated(),
          "live", torch.cuda.memory_allocated(), flush=True)


main()
