# SPDX-License-Identifier: MIT
"""Keeps memory in deques: pairs in one with a maxlen, and tensors in one without and in a queue. Sizes as in keepers.py."""
import asyncio
import collections
import ctypes

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Agent:
    def __init__(self):
        self.memory = collections.deque(maxlen=1000)
        self.latest = collections.deque()
        self.waiting = asyncio.Queue()

    def store(self):
        self.memory.append((big(75), big(76)))  # 75
        self.latest.appendleft(big(77))  # 77
        self.waiting.put_nowait(big(78))  # 78


def main():
    agent = Agent()
    for _ in range(6):
        agent.store()
    ctypes.CDLL(None).gpumemtrace_holders()
    return agent


main()
