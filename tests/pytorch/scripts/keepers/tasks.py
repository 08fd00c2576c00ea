# SPDX-License-Identifier: MIT
"""Keeps memory in what asyncio runs: a walk starts in a task while main() waits for it. Sizes as in keepers.py."""
import asyncio
import ctypes
import itertools
import weakref

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Coordinator:
    def __init__(self):
        self.finished = set()

    async def ask(self, member):
        task = asyncio.create_task(answer(member))
        self.finished.add(task)  # 3
        await task


async def answer(member):
    await asyncio.sleep(0)
    return {"member": member, "logits": big(3)}


async def walk():
    ctypes.CDLL(None).gpumemtrace_holders()


async def works(event):
    history = []
    for _ in range(6):
        history.append(big(5))  # 5
    await event.wait()
    return history


models = weakref.WeakKeyDictionary()


def patch(model):
    models[model] = model, big(7)  # 7


def batches():
    for _ in range(6):
        yield big(9), 9


async def main():
    own = big(1)  # 1
    coordinator, event = Coordinator(), asyncio.Event()
    for member in range(6):
        await coordinator.ask(member)
        patch(Coordinator())
    worker = asyncio.create_task(works(event))
    endless = itertools.cycle(batches())  # 9
    for _ in range(6):
        next(endless)
    await asyncio.sleep(0)
    await asyncio.create_task(walk())
    event.set()
    await worker
    return own, endless


asyncio.run(main())
