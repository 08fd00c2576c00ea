# SPDX-License-Identifier: MIT
"""Allocates while a timer interrupts the thread every 100 microseconds. The timer also interrupts the recorder while it
takes a stack. Python's signal handler allocates as well.

    python interrupted.py RUNTIME EXPECTED TIMES
"""
import signal
import sys

from allocating import allocate, write_expected


def handler(*_):
    global fired, inside
    fired += 1
    if fired % 10 == 0 and not inside:
        inside = True
        allocate()
        inside = False


def recurse(depth):
    return recurse(depth - 1) if depth else allocate()


fired, inside = 0, False
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0001)
while fired < int(sys.argv[3]):
    recurse(20)
signal.setitimer(signal.ITIMER_REAL, 0)
print("interrupted", fired)
write_expected()
