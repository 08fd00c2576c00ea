# SPDX-License-Identifier: MIT
"""Keeps memory by frames, and by a generator whose variable has an object with attributes. Each storage has a size of its own, in
units of 64 KiB, and the statement that keeps it has the size in a comment."""
import ctypes
import inspect

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
stubs = []


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Stub:
    def __init__(self, frame):
        self.frame = frame


def attention():
    scores = big(77)
    stubs.append(Stub(inspect.currentframe()))  # 77
    return scores.shape


class Weights:
    def __init__(self):
        self.table = big(78)


async def events():
    weights = Weights()  # 78
    while True:
        yield weights.table.shape


def main():
    waiting = events()
    for _ in range(6):
        attention()
    try:
        waiting.asend(None).send(None)
    except StopIteration as first:
        del first
    ctypes.CDLL(None).gpumemtrace_holders()
    return waiting


main()
