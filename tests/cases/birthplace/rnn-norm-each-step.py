# SPDX-License-Identifier: MIT
"""Trains a small recurrent network whose matrix is kept normalised. --once computes the normalised matrix once for a sequence."""
import sys

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

ONCE = "--once" in sys.argv
FEATURES, HIDDEN, LENGTH, BATCH, STEPS = 128, 2048, 96, 16, 6


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(FEATURES, HIDDEN)
        self.recur = weight_norm(nn.Linear(HIDDEN, HIDDEN, bias=False))
        self.answer = nn.Linear(HIDDEN, 10)

    def unroll(self, sequence):
        state = sequence.new_zeros(sequence.shape[1], HIDDEN)
        for x in sequence:
            state = torch.tanh(self.read(x) + self.recur(state))
        return self.answer(state)

    def forward(self, sequence):
        if ONCE:
            with parametrize.cached():
                return self.unroll(sequence)
        return self.unroll(sequence)


def main():
    batch = int(sys.argv[sys.argv.index("--batch") + 1]) if "--batch" in sys.argv else BATCH
    model = Reader().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        sequence = torch.randn(LENGTH, batch, FEATURES, device="cuda")
        target = torch.zeros(batch, dtype=torch.long, device="cuda")
        loss = nn.functional.cross_entropy(model(sequence), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)


main()
