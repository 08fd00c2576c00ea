# SPDX-License-Identifier: MIT
"""Decodes with a cache that is a tuple of keys and values for each layer. --inplace: the cache has room for all
tokens."""
import sys

import torch
from torch import nn

IN_PLACE = "--inplace" in sys.argv
LAYERS, KV_HEADS, HEAD, BATCH, PROMPT, NEW, WIDTH = 32, 8, 128, 16, 960, 48, 1024


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.pair = nn.Linear(WIDTH, 2 * KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(KV_HEADS * HEAD, WIDTH, bias=False)

    def extend(self, past, key, value, position):
        if IN_PLACE:
            past[0][:, :, position], past[1][:, :, position] = key[:, :, 0], value[:, :, 0]
            return past
        return torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)

    def forward(self, state, past, position):
        query = self.query(state).view(BATCH, KV_HEADS, 1, HEAD)
        key, value = self.pair(state).view(BATCH, 2 * KV_HEADS, 1, HEAD).chunk(2, dim=1)
        present = self.extend(past, key, value, position)
        weights = torch.softmax(query @ present[0].transpose(2, 3), dim=-1)
        return state + self.out((weights @ present[1]).reshape(BATCH, WIDTH)), present


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, state, past, position):
        present = ()
        for layer, pair in zip(self.layers, past):
            state, new_pair = layer(state, pair, position)
            present += (new_pair,)
        return state, present


@torch.no_grad()
def generate(model):
    room = PROMPT + NEW if IN_PLACE else PROMPT
    shape = (BATCH, KV_HEADS, room, HEAD)
    past = tuple((torch.zeros(shape, dtype=torch.half, device="cuda"), torch.zeros(shape, dtype=torch.half, device="cuda"))
                 for _ in range(LAYERS))
    state = torch.zeros(BATCH, WIDTH, dtype=torch.half, device="cuda")
    for number in range(NEW):
        inputs_of_step = {"state": state, "past": past, "position": PROMPT + number}
        state, past = model(**inputs_of_step)
    print("peak", torch.cuda.max_memory_allocated(), "reserved", torch.cuda.max_memory_reserved())


with torch.device("cuda"):
    decoder = Decoder().half()
generate(decoder)
