# SPDX-License-Identifier: MIT
"""Serves requests of two sizes in turn, and keeps a small result of each."""
import torch

MIB = 1 << 20


def serve(mib):
    work = torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
    result = torch.empty(12 * MIB, dtype=torch.uint8, device="cuda")
    del work
    return result


results = []
for turn in range(24):
    results.append(serve(90 + 16 * turn if turn % 2 else 60 + 14 * turn))
    print(turn, torch.cuda.memory_allocated() // MIB, torch.cuda.memory_reserved() // MIB, flush=True)
