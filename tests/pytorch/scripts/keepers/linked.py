# SPDX-License-Identifier: MIT
"""Keeps memory in linked lists: of objects, and of functions that call the one before. Each storage has a size of its own, in units
of 64 KiB, and the statement that keeps it has the size in a comment."""
import ctypes

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class State:
    def __init__(self, before):
        self.hidden = big(40)
        self.before = before  # 40


class Wrapper:
    def __init__(self, inner):
        self.inner = inner
        self.table = None


def scaled(before):
    factor = big(41)  # 41

    def scale(value):
        return before(value) * factor

    return scale


def main():
    state, scale, wrapper = None, abs, Wrapper(Wrapper(Wrapper(None)))
    for _ in range(8):
        state, scale = State(state), scaled(scale)
    wrapper.inner.inner.table = big(42)  # 42
    ctypes.CDLL(None).gpumemtrace_holders()
    return state, scale, wrapper


main()
