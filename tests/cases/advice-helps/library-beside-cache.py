# SPDX-License-Identifier: MIT
"""Trains, then calls a library that allocates from the driver. --empty: empties the cache before."""
import ctypes
import sys

import torch

GIB = 1 << 30


def train():
    torch.empty(14 * GIB, dtype=torch.uint8, device="cuda")


def solve():
    """Allocates as a solver of its own does."""
    address = ctypes.c_uint64()
    status = ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * GIB))
    if status:
        sys.exit(f"solver: cuMemAlloc returned {status}")


train()
if "--empty" in sys.argv:
    torch.cuda.empty_cache()
solve()
