# SPDX-License-Identifier: MIT
"""Allocates in the collector's finalizers, which run where memory is taken: also while a function is being
entered and its cells are made, when it is no frame to Python yet.

    python entered.py RUNTIME EXPECTED ROUNDS
"""
import gc
import sys

from allocating import allocate, write_expected


class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        gc.set_threshold(0)
        allocate()
        gc.set_threshold(1)


def with_cells(first, *others, **named):
    return lambda: (first, others, named)


def generator(first):
    yield lambda: first


class Keeper:
    def __init__(self, kept):
        self.kept = lambda: (kept, self)


gc.set_threshold(1)
for turn in range(int(sys.argv[3])):
    Cycle()
    with_cells(turn, turn, named=turn)
    Cycle()
    list(generator(turn))
    Cycle()
    Keeper(turn)
gc.set_threshold(0)
write_expected()
