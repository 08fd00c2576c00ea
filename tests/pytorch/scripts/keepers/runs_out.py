# SPDX-License-Identifier: MIT
"""Keeps a list of storages of 100 MiB until a card of 1 GiB is full."""
import torch


def train():
    kept = []
    while True:
        kept.append(torch.empty(1600, 1 << 14, device="cuda"))  # 1600


train()
