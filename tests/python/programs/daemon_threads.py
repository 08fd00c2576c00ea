# SPDX-License-Identifier: MIT
"""Ends while daemon threads allocate: Python deletes their thread states while they run.

    python daemon_threads.py PROBE THREADS
"""
import ctypes
import sys
import threading

PROBE = ctypes.CDLL(sys.argv[1])
THREADS = int(sys.argv[2])
BEGUN = threading.Barrier(THREADS + 1)


def descend(depth):
    if depth:
        descend(depth - 1)
    PROBE.probe_allocations(1)
    BEGUN.wait()
    while True:
        PROBE.probe_allocations(20)


for _ in range(THREADS):
    threading.Thread(target=descend, args=(60,), daemon=True).start()
BEGUN.wait()
