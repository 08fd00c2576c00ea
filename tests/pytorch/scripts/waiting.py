# SPDX-License-Identifier: MIT
"""A tensor is freed while a side stream still uses it: until the stream's event is done, the pool grows beside the tensor."""
import torch

from moments import moment

MIB = 1 << 20


def new(megabytes):
    return torch.empty(megabytes * MIB, dtype=torch.uint8, device="cuda")


def lend(side):
    lent = new(512)
    with torch.cuda.stream(side):
        used = lent[: 4 * MIB] + 1
    lent.record_stream(side)
    return used


def main():
    side = torch.cuda.Stream()
    kept = [lend(side)]
    moment("lent")
    kept.append(new(400))
    moment("taken beside it")
    return kept


held = main()
