# SPDX-License-Identifier: MIT
"""Trains two layers with a custom autograd.Function between them. --saved: the function calls save_for_backward."""
import sys

import torch
from torch import nn

SAVED = "--saved" in sys.argv


class SoftClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        y = x.clamp(-limit, limit)
        ctx.limit = limit
        if SAVED:
            ctx.save_for_backward(y)
        else:
            ctx.kept_output = y
        return y

    @staticmethod
    def backward(ctx, gradient):
        y = ctx.saved_tensors[0] if SAVED else ctx.kept_output
        return gradient * (y.abs() < ctx.limit), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(1024, 1024), nn.Linear(1024, 1024)

    def forward(self, x):
        return self.second(SoftClip.apply(self.first(x), 3.0))


def main():
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(30):
        loss = model(torch.randn(4096, 1024, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (4, 29):
            print(step + 1, torch.cuda.memory_allocated(), flush=True)


main()
