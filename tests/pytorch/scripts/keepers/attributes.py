# SPDX-License-Identifier: MIT
"""Keeps memory by attributes that no method of the object's class assigns, or that the class has a default for, by frames, and by
a generator whose variable has an object with attributes. Each storage has a size of its own, in units of 64 KiB, and the
statement that keeps it has the size in a comment."""
import ctypes
import dataclasses
import inspect

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
stubs = []
ran = []


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Result:
    """Has attributes that other functions assign, and a property, which must not be run."""

    @property
    def hidden(self):
        ran.append("hidden")
        return self

    def set_hidden(self, value):
        self.hidden = value


@dataclasses.dataclass
class State:
    epoch: int = 0
    best: dict = None


class Engine:
    model = None

    def load(self):
        self.model = big(76)  # 76


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
    result, state, engine, waiting = Result(), State(), Engine(), events()
    result.scores = big(74)  # 74
    state.best = {"weight": big(75)}  # 75
    engine.load()
    for _ in range(6):
        attention()
    try:
        waiting.asend(None).send(None)
    except StopIteration as first:
        del first
    ctypes.CDLL(None).gpumemtrace_holders()
    print(ran)
    return result, state, engine, waiting


main()
