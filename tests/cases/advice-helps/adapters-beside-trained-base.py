# SPDX-License-Identifier: MIT
"""Trains adapters beside layers that shall stay as they are. The optimizer gets the adapters only. --freeze says so to
the layers, too."""
import sys

import torch
from torch import nn

FREEZE = "--freeze" in sys.argv
WIDTH, RANK, LAYERS, STEPS = 2048, 8, 12, 8


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(WIDTH, WIDTH)
        self.down = nn.Linear(WIDTH, RANK, bias=False)
        self.up = nn.Linear(RANK, WIDTH, bias=False)

    def forward(self, x):
        return torch.relu(self.base(x) + self.up(self.down(x)))


def main():
    model = nn.Sequential(*[Adapted() for _ in range(LAYERS)]).cuda()
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not FREEZE or "base" not in name)
    optimizer = torch.optim.AdamW([one for name, one in model.named_parameters() if "base" not in name], lr=1e-3)
    for _ in range(STEPS):
        x = torch.randn(64, WIDTH, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(torch.cuda.max_memory_allocated(), flush=True)


main()
