# SPDX-License-Identifier: MIT
"""Transcribes a stream and aligns words by the decoder's attention. --window: keeps that of the last 8 tokens only."""
import sys
from collections import deque

import torch
from torch import nn

KEPT = 8 if "--window" in sys.argv else None
WIDTH, HEADS, LAYERS, FRAMES, TOKENS, CONTEXT, CHUNKS = 1280, 20, 12, 1500, 12, 96, 16


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def keys_and_values(self, audio):
        key, value = self.key(audio).view(FRAMES, HEADS, -1), self.value(audio).view(FRAMES, HEADS, -1)
        return key.permute(1, 2, 0), value.transpose(0, 1)

    def forward(self, x, key, value):
        weights = torch.softmax(self.query(x).view(-1, HEADS, WIDTH // HEADS).transpose(0, 1) @ key, dim=-1)
        return x + (weights @ value).transpose(0, 1).reshape(-1, WIDTH), weights


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(CrossAttention() for _ in range(LAYERS))
        self.encoder = nn.Sequential(nn.Linear(80, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x, cache):
        maps = []
        for layer, (key, value) in zip(self.layers, cache):
            x, weights = layer(x, key, value)
            maps.append(weights[:, -1])
        return x, torch.stack(maps)


class Stream:
    def __init__(self, decoder):
        self.decoder = decoder
        self.attention = deque(maxlen=KEPT)
        self.context = torch.zeros(1, WIDTH, device="cuda")

    def hear(self, sound):
        audio = self.decoder.encoder(sound)
        cache = [layer.keys_and_values(audio) for layer in self.decoder.layers]
        for _ in range(TOKENS):
            states, attention = self.decoder(self.context[-1:], cache)
            self.attention.append(attention)
            self.context = torch.cat((self.context, states[-1:]))[-CONTEXT:]
        return torch.stack(list(self.attention)[-8:]).mean(dim=(1, 2)).argmax(dim=-1)


torch.set_grad_enabled(False)
torch.set_default_dtype(torch.half)
with torch.device("cuda"):
    stream = Stream(Decoder())
for number in range(CHUNKS):
    stream.hear(torch.randn(FRAMES, 80, device="cuda"))
    print(number + 1, "live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)
