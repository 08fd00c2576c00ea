# SPDX-License-Identifier: MIT
"""Measures the cost of one allocation under DEPTH Python frames, on THREADS threads at once:

    python bench_stacks.py PROBE DEPTH THREADS BATCHES

Prints "alloc NS unwind NS loop NS native N". NS is in CPU ns; 95 of 100 batches take longer. If there are several
threads, NS is their mean. "unwind" is libunwind alone. "loop" is a Python loop over f_back that reads the line of each
frame. N is the number of native frames above the allocation. """
import ctypes
import statistics
import sys
import threading
import time

PROBE = ctypes.CDLL(sys.argv[1])
DEPTH, THREADS, BATCHES = map(int, sys.argv[2:5])
PROBE.probe_allocations.restype = PROBE.probe_unwinds.restype = ctypes.c_double
RESULTS = []


def walk():
    frame = sys._getframe()
    while frame:
        frame.f_code, frame.f_lineno
        frame = frame.f_back


def loop_ns():
    costs = []
    for _ in range(BATCHES // 4):
        start = time.thread_time_ns()
        for _ in range(16):
            walk()
        costs.append((time.thread_time_ns() - start) / 16)
    return statistics.median(costs)


def measure():
    alloc = PROBE.probe_allocations(BATCHES)
    unwind = PROBE.probe_unwinds(BATCHES)
    RESULTS.append((alloc, unwind, loop_ns() if THREADS == 1 else 0))


def descend(depth):
    if depth > 1:
        descend(depth - 1)
    else:
        measure()


def main():
    # DEPTH includes the outermost frames: main() and the module, or the first frames of a thread.
    if THREADS == 1:
        descend(DEPTH - 3)
    threads = [threading.Thread(target=descend, args=(DEPTH - 4,)) for _ in range(THREADS)]
    for thread in threads if THREADS > 1 else []:
        thread.start()
    for thread in threads if THREADS > 1 else []:
        thread.join()
    alloc, unwind, loop = (statistics.mean(column) for column in zip(*RESULTS))
    print(f"alloc {alloc:.0f} unwind {unwind:.0f} loop {loop:.0f} native {PROBE.probe_native_frames()}")


main()
