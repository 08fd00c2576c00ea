# SPDX-License-Identifier: MIT
"""Embeds documents, the last of them long. --fused: fused attention."""
import sys

import torch
from torch import nn
from torch.nn import functional as F

FUSED, WIDTH, HEADS = "--fused" in sys.argv, 512, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        query, key, value = self.into(x).view(len(x), -1, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if FUSED:
            mixed = F.scaled_dot_product_attention(query, key, value)
        else:
            scores = query * (WIDTH // HEADS) ** -0.5 @ key.transpose(-1, -2)
            mixed = F.softmax(scores, dim=-1) @ value
        return x + self.out(mixed.transpose(1, 2).reshape(x.shape))


@torch.inference_mode()
def embed(model, length):
    vector = model(torch.randn(1, length, WIDTH, device="cuda")).mean(1)
    print(length, vector.shape, torch.cuda.max_memory_allocated(), flush=True)


encoder = nn.Sequential(*(Layer() for _ in range(4))).cuda().eval()
for tokens in (512, 2048, 1024, 12288):
    embed(encoder, tokens)
