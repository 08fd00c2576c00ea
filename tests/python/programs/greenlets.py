# SPDX-License-Identifier: MIT
"""Greenlets that switch between allocations at different depths.

    python greenlets.py RUNTIME EXPECTED
"""
import greenlet

from allocating import allocate, write_expected


def work(depth):
    for _ in range(5):
        allocate()
        greenlet.getcurrent().parent.switch()
        if depth:
            work(depth - 1)


workers = [greenlet.greenlet(work) for _ in range(3)]
for step in range(40):
    for number, worker in enumerate(workers):
        if not worker.dead:
            worker.switch(number + 1) if step == 0 else worker.switch()
    allocate()
write_expected()
