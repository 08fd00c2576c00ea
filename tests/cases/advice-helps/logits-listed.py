# SPDX-License-Identifier: MIT
"""Trains briefly, then evaluates and joins all logits at the end. --host: moves the logits of each batch to the host."""
import sys

import torch
from torch import nn

HOST, WORDS, ROWS = "--host" in sys.argv, 32000, 2048


def evaluate(model, batches):
    logits = []
    with torch.no_grad():
        for _ in range(batches):
            out = model(torch.randint(WORDS, (ROWS,), device="cuda"))
            logits.append(out.cpu() if HOST else out)
    return torch.cat(logits)


model = nn.Sequential(nn.Embedding(WORDS, 256), nn.Linear(256, WORDS)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    words = torch.randint(WORDS, (ROWS,), device="cuda")
    nn.functional.cross_entropy(model(words), words).backward()
    optimizer.step()
    optimizer.zero_grad()
print(evaluate(model, 24).shape, torch.cuda.max_memory_allocated(), flush=True)
