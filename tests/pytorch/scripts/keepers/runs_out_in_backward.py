# SPDX-License-Identifier: MIT
"""Runs out of memory in a backward, which PyTorch runs in a thread of its own."""
import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


class Widens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        torch.zeros(4800 * UNIT, device="cuda")
        return gradient


def train():
    weight = torch.ones(1, device="cuda", requires_grad=True)
    kept = []
    while True:
        kept.append(torch.zeros(1600 * UNIT, device="cuda"))  # 1600
        Widens.apply(weight).sum().backward()


train()
