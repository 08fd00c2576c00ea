# SPDX-License-Identifier: MIT
"""Allocates and frees tensors of many sizes; no library allocates memory of its own."""
import torch

from moments import moment


def main():
    kept = []
    torch.empty(1, device="cuda")
    for size in (1, 511, 512, 100_000, 1 << 20, 3_000_001, 10 << 20, 33_333_333):
        kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        moment("taken", tensors=kept)
        kept += [torch.empty(size, 3, device="cuda") for _ in range(2)]
        moment("two more", tensors=kept)
        del kept[len(kept) // 2]
        moment("one given back", tensors=kept)


main()
