# SPDX-License-Identifier: MIT
"""Unrolls a recurrent cell over sequences that double in length, with a loss for each position. --half: half the batch."""
import sys

import torch
from torch import nn

BATCH = 64 if "--half" in sys.argv else 128


def main():
    cell = nn.LSTMCell(256, 1024).cuda()
    head = nn.Linear(1024, 256).cuda()
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    for length in (24, 48, 96):
        x = torch.randn(length, BATCH, 256, device="cuda")
        h = c = torch.zeros(BATCH, 1024, device="cuda")
        optimizer.zero_grad()
        loss = 0
        for t in range(length - 1):
            h, c = cell(x[t], (h, c))
            loss = loss + nn.functional.mse_loss(head(h), x[t + 1])
        loss.backward()
        optimizer.step()
        print(length, torch.cuda.max_memory_allocated(), flush=True)


main()
