# SPDX-License-Identifier: MIT
"""Frees tensors while other streams still use them (record_stream)."""
import torch

from moments import moment

MIB = 1 << 20


def main():
    sides = [torch.cuda.Stream() for _ in range(2)]
    moment("start")
    for megabytes in (1, 5, 12, 30):
        tensors = [torch.empty(megabytes * MIB - i * 1000, dtype=torch.uint8, device="cuda") for i in range(6)]
        moment("taken")
        for i, tensor in enumerate(tensors[:4]):
            tensor.record_stream(sides[i % 2])
        moment("lent")
        del tensor, tensors[::2]
        moment("half given back")
        again = torch.empty(megabytes * MIB, dtype=torch.uint8, device="cuda")
        moment("taken again")
        del tensors, again
        moment("all given back")
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    moment("end")


main()
