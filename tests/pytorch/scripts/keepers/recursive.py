# SPDX-License-Identifier: MIT
"""An inner function that calls itself is a reference cycle, which keeps the variables that it uses. Sizes as in keepers.py."""
import ctypes
import gc

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def collect(values):
    tensors = []

    def add(value):  # 40
        if torch.is_tensor(value):
            tensors.append(value)
        else:
            for item in value:
                add(item)

    add(values)
    return len(tensors)


def main():
    print(collect([[torch.zeros(40 * UNIT, device="cuda")] for _ in range(3)]))
    ctypes.CDLL(None).gpumemtrace_holders()


gc.disable()
main()
