# SPDX-License-Identifier: MIT
"""A decoder with a large vocabulary reads a prompt in half precision. Its head gives the logits of all positions and makes
them float. --last takes the last position before the cast."""
import sys

import torch
from torch import nn

LAST = "--last" in sys.argv
VOCABULARY, WIDTH, LAYERS, BATCH = 128256, 1024, 8, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden):
        query, key, value = (part.unflatten(-1, (8, -1)).transpose(1, 2) for part in self.qkv(hidden).chunk(3, -1))
        attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(attended.transpose(1, 2).flatten(2))
        return hidden + self.down(nn.functional.silu(self.up(hidden)))


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        if LAST:
            hidden = hidden[:, -1:]
        logits = self.lm_head(hidden)
        logits = logits.float()
        return logits


@torch.inference_mode()
def generate(model, tokens, new):
    for _ in range(new):
        scores = model(tokens)[:, -1]
        tokens = torch.cat([tokens, scores.argmax(-1, keepdim=True)], dim=1)
    return tokens


with torch.device("cuda"):
    model = CausalLM().half().eval()
for length in (256, 1024, 4096):
    tokens = generate(model, torch.zeros(BATCH, length, dtype=torch.long, device="cuda"), 3)
    print(length, tokens.shape[1])
