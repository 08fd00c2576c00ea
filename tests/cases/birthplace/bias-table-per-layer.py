# SPDX-License-Identifier: MIT
"""Trains a decoder whose attention leans to near tokens. --shared keeps one table of distances for all layers."""
import sys

import torch
from torch import nn

SHARED = "--shared" in sys.argv
WIDTH, HEADS, LAYERS, TOKENS, STEPS = 256, 16, 12, 1024, 5
BATCH = int(sys.argv[sys.argv.index("--batch") + 1]) if "--batch" in sys.argv else 2
one_table = {}


def distance_table(tokens):
    slopes = torch.pow(2.0, -torch.arange(1, HEADS + 1, device="cuda") / 2)
    place = torch.arange(tokens, device="cuda")
    distance = (place[None, :] - place[:, None]).float()
    future = torch.ones(tokens, tokens, dtype=torch.bool, device="cuda").triu(1)
    return (slopes[:, None, None] * distance).masked_fill_(future, float("-inf"))[None]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.tables = one_table if SHARED else {}

    def forward(self, x):
        batch, tokens, _ = x.shape
        if tokens not in self.tables:
            self.tables[tokens] = distance_table(tokens)
        q, k, v = self.qkv(self.norm(x)).view(batch, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        bias = self.tables[tokens].expand(batch, -1, -1, -1)
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return x + self.out(y.transpose(1, 2).reshape(batch, tokens, WIDTH))


def main():
    model = nn.Sequential(*[Layer() for _ in range(LAYERS)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(STEPS):
        x = torch.randn(BATCH, TOKENS, WIDTH, device="cuda")
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (0, 1, STEPS - 1):
            print(step + 1, "live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)


main()
