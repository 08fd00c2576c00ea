# SPDX-License-Identifier: MIT
"""Measures the cost of tensors in this process, with or without a recorder (PYTHONPATH names the folder of gpt.py):

    python torch_costs.py HISTORY EVENTS

HISTORY is none, or the stacks that PyTorch's own recorder takes: python or all. Prints a line "NAME NS BACKGROUND" for
each piece of work. NS is CPU ns of the working threads for one allocation and its free, the lowest of some parts,
because a shared machine only adds time. BACKGROUND is CPU ns of gpumemtrace's own thread. If EVENTS is above 0, the
program makes that many tensor events instead, and prints "rss BYTES" at 20 moments. """
import contextlib
import os
import pathlib
import sys
import time
import types

import torch

LOOPS = 1000


def load_gpt():
    """Returns main() of the tests' gpt.py, which then does not note its memory."""
    sys.modules["moments"] = types.SimpleNamespace(
        moment=lambda *_: None, saved_for_backward=lambda *_: contextlib.nullcontext())
    import gpt
    return gpt.main


def loop(count):
    for _ in range(count):
        torch.empty(1000, device="cuda")


def under(depth, work):
    if depth:
        under(depth - 1, work)
    else:
        work()


def thread_clocks():
    """Returns the CPU ns (of the recorder's own thread, of all other threads)."""
    own = others = 0
    for task in map(int, os.listdir("/proc/self/task")):
        # This is the clock id of a thread, as pthread_getcpuclockid computes it. The clock is exact even while the
        # thread runs.
        spent = time.clock_gettime_ns(~task << 3 | 6)
        if pathlib.Path(f"/proc/self/task/{task}/comm").read_text() == "gpumemtrace\n":
            own += spent
        else:
            others += spent
    return own, others


def allocations():
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def part(work):
    """Returns the CPU ns of the working threads per allocation."""
    count, (_, start) = allocations(), thread_clocks()
    work()
    _, end = thread_clocks()
    return (end - start) / (allocations() - count)


def measure(name, work, parts):
    work()
    count, (own, _) = allocations(), thread_clocks()
    cost = min(part(work) for _ in range(parts))
    background = (thread_clocks()[0] - own) / (allocations() - count)
    print(f"{name} {cost:.1f} {background:.1f}", flush=True)


def resident_bytes():
    fields = pathlib.Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE")


def make_events(count):
    for _ in range(20):
        loop(count // 40)
        print(f"rss {resident_bytes()}", flush=True)


def main():
    history, events = sys.argv[1], int(sys.argv[2])
    loop(1)
    if events:
        make_events(events)
        return
    gpt = load_gpt()
    if history != "none":
        torch.cuda.memory._record_memory_history(stacks=history)
    for depth in (0, 20):
        measure(f"loop{depth}", lambda depth=depth: under(depth, lambda: loop(LOOPS)), 60)
    measure("gpt", gpt, 30)


main()
