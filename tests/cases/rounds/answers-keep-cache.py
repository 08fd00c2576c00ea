# SPDX-License-Identifier: MIT
"""Writes an answer to each prompt, token by token. --tokens keeps of an answer only its tokens."""
import sys

import torch
from torch import nn

TOKENS = "--tokens" in sys.argv
WIDTH, HEADS, LAYERS, VOCABULARY, BEAMS = 512, 8, 6, 8000, 8
PROMPT, ANSWER, PROMPTS = 160, 32, 6


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, past):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = (q @ k.transpose(2, 3)) / q.shape[-1] ** 0.5
        y = scores.softmax(dim=-1) @ v
        return x + self.out(y.transpose(1, 2).flatten(2)), (k, v)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Embedding(VOCABULARY, WIDTH), nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, tokens, cache):
        x, grown = self.embed(tokens), []
        for layer, past in zip(self.layers, cache):
            x, pair = layer(x, past)
            grown.append(pair)
        return (x[:, -1] @ self.embed.weight.t()).argmax(dim=-1, keepdim=True), grown


@torch.inference_mode()
def answer(model, prompt):
    tokens, cache, written = prompt, [None] * LAYERS, []
    for _ in range(ANSWER):
        tokens, cache = model(tokens, cache)
        written.append(tokens)
    return {"tokens": torch.cat(written, dim=1).cpu(), "cache": None if TOKENS else cache}


def main():
    model, answers = Writer().cuda().eval(), []
    for number in range(PROMPTS):
        prompt = torch.zeros(BEAMS, PROMPT, dtype=torch.long, device="cuda")
        answers.append(answer(model, prompt))
        print("answers", number + 1, "live", torch.cuda.memory_allocated(), flush=True)
    print("peak", torch.cuda.max_memory_allocated(), flush=True)


main()
