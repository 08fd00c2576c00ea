# SPDX-License-Identifier: MIT
"""Keeps memory by functions that are called at an exit, and by context variables. Each storage has a size of its own, in units of
64 KiB, and the statement that keeps it has the size in a comment."""
import asyncio
import atexit
import contextlib
import contextvars
import ctypes

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
latest = contextvars.ContextVar("the latest pictures")
request = contextvars.ContextVar("request")
stack = contextlib.ExitStack()
recorders = contextlib.ExitStack()


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class State:
    def __init__(self):
        self.model = big(60)


class Engine:
    def __init__(self, state):
        atexit.register(self._close, state, final=True)  # 60

    @staticmethod
    def _close(state, final):
        state.model = None


class Recorder:
    def __init__(self):
        self.records = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.records.clear()

    def note(self):
        self.records.append(big(65))  # 65


class Connection:
    def __init__(self):
        self.buffer = big(62)

    def close(self):
        self.buffer = None


def show(value):
    print(value.shape)


def keep_for_exits():
    for _ in range(3):
        Engine(State())
    stack.enter_context(contextlib.closing(Connection()))  # 62
    for _ in range(6):
        recorders.enter_context(Recorder()).note()


def keep_for_callbacks():
    calls = contextlib.ExitStack()
    calls.callback(show, big(61))  # 61
    latest.set([big(63)])  # 63
    ctypes.CDLL(None).gpumemtrace_holders()
    calls.pop_all()


async def handle(number):
    request.set({"number": number, "picture": big(64)})  # 64
    return number


async def serve():
    tasks = []
    for number in range(6):
        tasks.append(asyncio.create_task(handle(number)))
        await tasks[-1]
    keep_for_callbacks()


keep_for_exits()
asyncio.run(serve())
