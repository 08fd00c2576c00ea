# SPDX-License-Identifier: MIT
"""Forward passes of layers without a module that contains them all: layers.py
once | batches | blocks"""
import sys

import torch
from torch import nn

torch.set_grad_enabled(False)


def weights(count):
    return [torch.randn(256, 256, device="cuda") for _ in range(count)]


def through(matrices, x):
    for matrix in matrices:
        x = torch.relu(x @ matrix)
    return x


def once():
    """A hundred layers in one forward pass, without any training step."""
    through(weights(100), torch.randn(64, 256, device="cuda"))


def batches():
    matrices = weights(12)
    for _ in range(30):
        through(matrices, torch.randn(64, 256, device="cuda"))


def blocks():
    """A loop over the blocks of a Sequential, once for each batch."""
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(24)]).cuda()
    for _ in range(20):
        x = torch.randn(64, 256, device="cuda")
        for block in layers:
            x = block(x)


WAYS = {"once": once, "batches": batches, "blocks": blocks}
WAYS[sys.argv[1]]()
