# SPDX-License-Identifier: MIT
"""Keeps memory by objects of the standard library: heaps, namespaces, futures, threads that wait, and a list with places. Each
storage has a size of its own, in units of 64 KiB, and the statement that keeps it has the size in a comment."""
import concurrent.futures
import ctypes
import heapq
import queue
import threading
import types
from heapq import heappush

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
best = []
shared = types.SimpleNamespace(model=None)


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Beam:
    def __init__(self):
        self.hypotheses = []
        self.options = types.SimpleNamespace(masks={})

    def add(self, score):
        heapq.heappush(self.hypotheses, (score, big(67)))  # 67
        self.options.masks[score] = big(68)  # 68


class Replay:
    def __init__(self):
        self.rows, self.position = [], 0

    def add(self):
        self.rows.append(None)
        self.rows[self.position] = big(73)  # 73
        self.position += 1


def work(jobs, results):
    while True:
        job = jobs.get()  # 72
        results.put(job.shape)


def ask_worker():
    jobs, results = queue.Queue(), queue.Queue()
    threading.Thread(target=work, args=(jobs, results), daemon=True).start()
    jobs.put(big(72))
    results.get()


def main():
    pool = concurrent.futures.ThreadPoolExecutor(1)
    future = pool.submit(big, 70)  # 70
    futures = [pool.submit(big, 71) for _ in range(6)]  # 71
    concurrent.futures.wait([future, *futures])
    beam, replay = Beam(), Replay()
    for score in range(6):
        heappush(best, (-score, big(66)))  # 66
        beam.add(-score)
        replay.add()
        ask_worker()
    shared.model = big(69)  # 69
    ctypes.CDLL(None).gpumemtrace_holders()


main()
