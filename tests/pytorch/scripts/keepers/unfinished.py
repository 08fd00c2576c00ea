# SPDX-License-Identifier: MIT
"""Asks for walks while C code fills tuples: zip() has one of its two items, and tuple() has a few of its ten."""
import ctypes

import torch

walk = ctypes.CDLL(None).gpumemtrace_holders


def made(number):
    tensor = torch.zeros(1 << 20, device="cuda")
    if number % 4 == 3:
        walk()
    return tensor


pair = next(zip(iter(lambda: torch.zeros(1 << 20, device="cuda"), None), map(made, (3, 7))))
whole = tuple(made(number) for number in range(10))
print(len(pair), len(whole))
