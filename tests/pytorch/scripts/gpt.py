# SPDX-License-Identifier: MIT
"""A small GPT: attention, autocast, gradients accumulated over two batches; --checkpoint drops what the
layers would keep."""
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from moments import moment, saved_for_backward

WIDTH, HEADS, LENGTH, WORDS = 128, 4, 64, 1000


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, x):
        q, k, v = (part.view(*part.shape[:2], HEADS, -1).transpose(1, 2) for part in self.project(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, layers, recompute):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.recompute = recompute

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.recompute else layer(x)
        return self.head(x)


def main():
    model = Model(4, "--checkpoint" in sys.argv).cuda()
    moment("model")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        for _ in range(2):
            tokens = torch.zeros(8, LENGTH, dtype=torch.long, device="cuda")
            moment("batch")
            with torch.autocast("cuda", dtype=torch.bfloat16), saved_for_backward(model, tokens) as saved:
                loss = nn.functional.cross_entropy(model(tokens).view(-1, WORDS), tokens.view(-1))
            moment("forward", model, optimizer, saved)
            (loss / 2).backward()
            moment("backward", model, optimizer)
        optimizer.step()
        moment("step", model, optimizer)
        optimizer.zero_grad(set_to_none=True)
        moment("zero_grad")


if __name__ == "__main__":
    main()
