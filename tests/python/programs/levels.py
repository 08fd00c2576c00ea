# SPDX-License-Identifier: MIT
"""Allocates 10,000 Python frames deep, and on a thread with the smallest stack that Python allows.

    python levels.py RUNTIME EXPECTED
"""
import sys
import threading

from allocating import allocate, write_expected

LEVELS = 10000


def descend(levels):
    if levels:
        descend(levels - 1)
    else:
        allocate()


def run(stack_bytes, function, *arguments):
    threading.stack_size(stack_bytes)
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def smallest_stack_bytes():
    """Returns the smallest stack size that Python accepts; debug builds need a larger one."""
    for size in (64 << 10, 128 << 10, 256 << 10):
        try:
            threading.stack_size(size)
            return size
        except ValueError:
            pass
    return 512 << 10


sys.setrecursionlimit(LEVELS + 500)
# Before 3.11 each Python frame also takes C stack.
run(256 << 20, descend, LEVELS)
run(smallest_stack_bytes(), descend, 0)
write_expected()
