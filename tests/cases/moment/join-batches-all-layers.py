# SPDX-License-Identifier: MIT
"""Joins the cache of a waiting batch to that of the running one. --bylayer: gives the old caches back layer by layer."""
import sys

import torch
from torch import nn

BY_LAYER = "--bylayer" in sys.argv
LAYERS, HEADS, HEAD, WIDTH, CONTEXT, NEW = 20, 16, 128, 2048, 4096, 6


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pairs = nn.ModuleList(nn.Linear(WIDTH, 2 * HEADS * HEAD) for _ in range(LAYERS))
        self.outs = nn.ModuleList(nn.Linear(HEADS * HEAD, WIDTH) for _ in range(LAYERS))

    def forward(self, state, cache, position):
        for layer, (pair, out) in enumerate(zip(self.pairs, self.outs)):
            key, value = pair(state).view(len(state), HEADS, 2 * HEAD).chunk(2, dim=-1)
            cache[layer][0][:, :, position], cache[layer][1][:, :, position] = key, value
            scores = (cache[layer][0] @ state.view(len(state), HEADS, HEAD, 1)).softmax(dim=2)
            state = state + out((scores.transpose(2, 3) @ cache[layer][1]).reshape(len(state), HEADS * HEAD))
        return state


def empty_cache_for(requests):
    return [tuple(torch.zeros(requests, HEADS, CONTEXT, HEAD, device="cuda") for _ in range(2))
            for _ in range(LAYERS)]


def join(running, waiting):
    joined = []
    for layer in range(LAYERS):
        pair = tuple(torch.cat((old, new)) for old, new in zip(running[layer], waiting[layer]))
        if BY_LAYER:
            running[layer] = waiting[layer] = None
        joined.append(pair)
    return joined


def generate(model, cache, requests, tokens):
    state = torch.zeros(requests, WIDTH, device="cuda")
    for position in range(tokens):
        state = model(state, cache, position)
    print(requests, "requests, live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(),
          "reserved", torch.cuda.memory_reserved(), flush=True)


torch.set_grad_enabled(False)
torch.set_default_dtype(torch.half)
with torch.device("cuda"):
    model = Decoder()
running = empty_cache_for(6)
generate(model, running, 6, NEW)
waiting = empty_cache_for(3)
running = join(running, waiting)
del waiting
generate(model, running, 9, 4 * NEW)
