# SPDX-License-Identifier: MIT
"""Captures one decoding step as a CUDA graph for each batch size. --shared: all graphs write their logits to one buffer."""
import sys

import torch
from torch import nn

SHARED = "--shared" in sys.argv
WIDTH, VOCABULARY, BLOCKS = 2048, 128256, 6
SIZES = [1, 2, 4] + list(range(8, 257, 8))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
                                    for _ in range(BLOCKS))

    def forward(self, tokens):
        state = self.embed(tokens)
        for block in self.blocks:
            state = state + block(state)
        return nn.functional.linear(state, self.embed.weight)


class GraphRunner:
    def __init__(self, decoder):
        self.decoder = decoder
        self.tokens = torch.zeros(max(SIZES), dtype=torch.long, device="cuda")
        self.logits = torch.empty(max(SIZES), VOCABULARY, dtype=torch.half, device="cuda") if SHARED else None
        self.pool, self.graphs = None, {}

    def capture(self, size):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            output = self.decoder(self.tokens[:size])
            if SHARED:
                self.logits[:size].copy_(output)
                del output
        self.pool = graph.pool()
        self.graphs[size] = (graph, self.logits[:size] if SHARED else output)


torch.set_grad_enabled(False)
torch.set_default_dtype(torch.half)
with torch.device("cuda"):
    runner = GraphRunner(Decoder())
runner.decoder(runner.tokens)
weights = torch.cuda.memory_allocated()
print("before capture", weights, "reserved", torch.cuda.memory_reserved(), flush=True)
for size in reversed(SIZES):
    runner.capture(size)
print("captured", len(SIZES), "kept", torch.cuda.memory_allocated() - weights, flush=True)
for size in (4, 24, 40, 200):
    runner.graphs[size][0].replay()
print("peak", torch.cuda.max_memory_allocated(), "reserved", torch.cuda.memory_reserved(), flush=True)
