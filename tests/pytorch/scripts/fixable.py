# SPDX-License-Identifier: MIT
"""fixable.py CASE [--batch-size=N]: a program that runs out of memory on a small card in the way that CASE names. A smaller
number or a setting may help: tests/pytorch/test_pytorch_fix.py has the answers. `sequence` reads the variable SEQUENCE."""
import argparse
import os

import torch
from torch import nn

MIB = 1 << 20
WIDTH, HEADS = 512, 8


def training(model, make_batch):
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        loss = model(make_batch()).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def batch(options):
    """Activations grow with the batch."""
    layers = [layer for _ in range(8) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    training(nn.Sequential(*layers), lambda: torch.randn(options.batch_size, 256, WIDTH, device="cuda"))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.project(x).chunk(3, -1))
        return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


def sequence(options):
    """Attention weights grow with the square of the sequence length; the batch is one sample and cannot get smaller."""
    del options
    length = int(os.environ["SEQUENCE"])
    training(Attention(), lambda: torch.randn(1, length, WIDTH, device="cuda"))


def library(options):
    """cuBLAS allocates its workspace from the driver, while idle memory in PyTorch's cache fills the card."""
    del options
    free = torch.cuda.mem_get_info()[0]
    data = [torch.empty(20 * MIB, dtype=torch.uint8, device="cuda") for _ in range(free // (20 * MIB))]
    del data[2:]
    a = torch.ones(64, 64, device="cuda")
    return a @ a


def pinned(options):
    """Half of each 2 MiB segment is idle, and no segment can be freed. No setting of the allocator joins the halves."""
    del options
    kept = [torch.empty(MIB // 2, dtype=torch.uint8, device="cuda") for _ in range(1000)]
    del kept[::2]
    return torch.empty(300 * MIB, dtype=torch.uint8, device="cuda"), kept


def hopeless(options):
    """The weights alone need more memory than the card has."""
    del options
    training(nn.Linear(32 * WIDTH, 32 * WIDTH), lambda: torch.randn(1, 32 * WIDTH, device="cuda"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--batch-size", type=int, default=64)
    options = parser.parse_args()
    globals()[options.case](options)


main()
