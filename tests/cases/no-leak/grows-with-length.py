# SPDX-License-Identifier: MIT
"""Trains a language model on two epochs of batches sorted by length. --longest-first: sorted the other way round."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

LONGEST_FIRST = "--longest-first" in sys.argv
WIDTH, HEADS, LAYERS, VOCABULARY, ROWS = 512, 8, 4, 8192, 8
LENGTHS = list(range(64, 1664, 80))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        rows, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).reshape(rows, length, WIDTH)
        return x + self.down(F.gelu(self.up(x)))


def main():
    with torch.device("cuda"):
        model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), *(Block() for _ in range(LAYERS)), nn.Linear(WIDTH, VOCABULARY))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    step = 0
    for epoch in range(2):
        for length in sorted(LENGTHS, reverse=LONGEST_FIRST):
            tokens = torch.zeros(ROWS, length + 1, dtype=torch.long, device="cuda")
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            del tokens, logits, loss
            step += 1
            if step in (1, 2) or step % 5 == 0:
                print("epoch", epoch, "length", length, "allocated", torch.cuda.memory_allocated(),
                      "peak", torch.cuda.max_memory_allocated(), "reserved", torch.cuda.memory_reserved(), flush=True)


main()
