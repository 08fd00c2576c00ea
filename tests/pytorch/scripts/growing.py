# SPDX-License-Identifier: MIT
"""Batches of growing size beside what is held: on a small card the free segments of earlier ones must go."""
import torch

from moments import moment

MIB = 1 << 20


def main():
    held = [torch.empty(70 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]
    for step in range(30):
        batch = [torch.empty((20 + 5 * step + 3 * i) * MIB, dtype=torch.uint8, device="cuda") for i in range(3)]
        moment("step")
        del batch
    del held
    moment("end")


main()
