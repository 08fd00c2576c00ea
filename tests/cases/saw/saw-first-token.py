# SPDX-License-Identifier: MIT
"""Encodes texts, collects the first token's vector of each, and moves what was collected to the host every 40 batches.

--clone collects copies of the vectors in place of slices.
"""
import argparse

import torch
from torch import nn

BATCH, TOKENS, WIDTH, BATCHES, FLUSH = 16, 512, 768, 150, 40


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30000, WIDTH)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(3))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return self.norm(hidden)


@torch.no_grad()
def encode_all(encoder, clone):
    stored, collected = [], []
    for batch in range(BATCHES):
        tokens = torch.randint(0, 30000, (BATCH, TOKENS), device="cuda")
        first = encoder(tokens)[:, 0]
        collected.append(first.clone() if clone else first)
        if len(collected) == FLUSH:
            stored.append(torch.cat([vectors.cpu() for vectors in collected]))
            collected.clear()
        if batch % 10 == 9:
            print(batch + 1, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(),
                  torch.cuda.memory_reserved(), flush=True)
    stored.append(torch.cat([vectors.cpu() for vectors in collected]))
    return torch.cat(stored)


parser = argparse.ArgumentParser()
parser.add_argument("--clone", action="store_true")
print(tuple(encode_all(Encoder().cuda().eval(), parser.parse_args().clone).shape))
