# SPDX-License-Identifier: MIT
"""Allocates in finalizers that the garbage collector calls. The collector runs when Python allocates memory. So it may
also run while Python enters a function and creates the cells of that function. At that time traceback does not yet see
a frame of the function.

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
