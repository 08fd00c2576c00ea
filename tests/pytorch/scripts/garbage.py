# SPDX-License-Identifier: MIT
"""Batches of growing size under a memory fraction leave large free segments that are too small for the next batch."""
import torch

from moments import moment

MIB = 1 << 20


def main():
    torch.cuda.set_per_process_memory_fraction(0.25)
    held = torch.empty(700 * MIB, dtype=torch.uint8, device="cuda")
    for step in range(60):
        sizes = [(40 + 7 * step + 3 * i) * MIB for i in range(3)]
        batch = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
        if step % 3 == 0:
            moment("step")
        del batch
    del held
    moment("end")


main()
