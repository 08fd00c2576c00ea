# SPDX-License-Identifier: MIT
"""Makes traces that have any number of events but a constant number of live blocks. Measures the time and memory of a
command."""

import random
import subprocess

from support.run import BUILD
from support.tracefile import Trace

MIB = 1 << 20
PROGRAMS = BUILD / "tests"
KINDS = ("driver", "pool", "pytorch")  # possible arguments of make_events
SITES, DEPTH = 2000, 8
PHASES = ("forward", "backward", "optimizer")


def make_trace(path, kind, events):
    """Makes a trace and returns its path. Python writes the tables to which the events refer, and the program
    make_events writes the events."""
    choose = random.Random(1)
    trace = Trace(path)
    for name in PHASES:
        trace.string(name)
    while len(trace.frames) < SITES:
        frames = [
            (f"part{choose.randrange(40)}.py", choose.randrange(900), f"f{choose.randrange(99)}") for _ in range(DEPTH)
        ]
        trace.stack(*frames)
    trace.device(0, total_bytes=64 << 30)
    trace.rows["hook"].append((1, "cuMemAlloc_v2", "driver"))
    trace.write()
    subprocess.run([PROGRAMS / "make_events", path, kind, str(events), str(SITES)], check=True)
    return path


def measured(*command):
    """Runs a command and returns (CPU seconds, wall seconds, peak resident bytes)."""
    words = subprocess.run([PROGRAMS / "measured", *command], check=True, capture_output=True, text=True).stdout.split()
    cpu_us, wall_us, resident_kib, status = map(int, words)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {status}")
    return cpu_us / 1e6, wall_us / 1e6, resident_kib << 10
