# SPDX-License-Identifier: MIT
"""Makes classes inside a function, whose methods use a tensor. A class refers to itself, so only a collection frees it. Each
storage has a size of its own, in units of 64 KiB, and the statement that keeps it has the size in a comment."""
import ctypes
import gc

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def scaled_by(weight):
    class Scaled:  # 40
        __slots__ = ("value", "scale")

        def __init__(self, value):
            self.value, self.scale = value, 2

        def result(self):
            return self.value * self.scale * weight

    return Scaled(1).value


def main():
    for _ in range(3):
        scaled_by(torch.zeros(40 * UNIT, device="cuda"))
    ctypes.CDLL(None).gpumemtrace_holders()


gc.disable()
main()
