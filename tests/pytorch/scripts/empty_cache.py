# SPDX-License-Identifier: MIT
"""empty_cache() between phases of different sizes, and side streams."""
import torch

from moments import moment

MIB = 1 << 20


def main():
    side = torch.cuda.Stream()
    for megabytes in (1, 3, 15, 40, 7, 1):
        tensors = [torch.empty(megabytes * MIB // 2 + i * 512, dtype=torch.uint8, device="cuda") for i in range(7)]
        moment("taken")
        with torch.cuda.stream(side):
            tensors += [torch.empty(megabytes * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]
        moment("on the other stream")
        del tensors[::2]
        moment("half given back")
        torch.cuda.empty_cache()
        moment("cache emptied")
        del tensors
        moment("all given back")
    torch.cuda.empty_cache()
    moment("end")


main()
