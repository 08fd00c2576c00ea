# SPDX-License-Identifier: MIT
"""Searches for the largest batch that fits, by halving. --outside: tries again after the handler has ended."""
import sys

import torch
from torch import nn

OUTSIDE = "--outside" in sys.argv
WIDTH, LAYERS = 2048, 16


def attempt(model, rows):
    x = torch.randn(rows, WIDTH, device="cuda")
    for layer in model:
        x = torch.relu(layer(x))
    x.square().mean().backward()
    return rows


def search_inside(model, rows):
    if rows == 0:
        raise SystemExit("nothing fits")
    try:
        return attempt(model, rows)
    except torch.cuda.OutOfMemoryError as held_failure:
        torch.cuda.empty_cache()
        print(rows, "do not fit:", torch.cuda.memory_allocated(), "allocated", flush=True)
        return search_inside(model, rows // 2)


def search_outside(model, rows):
    while rows:
        try:
            return attempt(model, rows)
        except torch.cuda.OutOfMemoryError:
            pass
        torch.cuda.empty_cache()
        print(rows, "do not fit:", torch.cuda.memory_allocated(), "allocated", flush=True)
        rows //= 2
    raise SystemExit("nothing fits")


def main():
    with torch.device("cuda"):
        model = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))
    search = search_outside if OUTSIDE else search_inside
    print("fits:", search(model, 131072))


main()
