# SPDX-License-Identifier: MIT
"""Measures the cost of `live` for the watched program and its own CPU use, at about a million events a second."""

import os
import pathlib
import re
import select
import sqlite3
import statistics
import subprocess
import sys
import time

from live.terminals import Pty
from live.watched import Lines
from support.run import BUILD, LIBRARY, simulator_environment

EVENTS, RATE, ROUNDS = 3_000_000, 1_000_000, 10
# Uses as much CPU as `live` may use, four times a second like `live`, but does not read the trace.
SPIN = """import time
while True:
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
    time.sleep(0.24)"""


class Spin:
    """A process that uses as much CPU as `live`, to measure the cost of any neighbour process."""

    def __init__(self, _trace):
        self.process = subprocess.Popen([sys.executable, "-c", SPIN], stderr=subprocess.PIPE)

    def close(self):
        self.process.kill()
        self.process.communicate()


VIEWS = {"nobody watches": None, "live in a pipe": Lines, "live at 80x24": Pty, "a loop instead": Spin}


def cpu_s(pid):
    """Returns the CPU seconds of the process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(program, view):
    """Waits for the program's end and returns the CPU seconds of `live` per wall second. Meanwhile it reads the screen
    of `live`, because `live` would block if nobody read it."""
    begin = time.monotonic()
    while program.poll() is None:
        if isinstance(view, Pty) and select.select([view.ours], [], [], 0.05)[0]:
            os.read(view.ours, 65536)
        elif not isinstance(view, Pty):
            time.sleep(0.05)
    if not view:
        return 0
    share = cpu_s(view.process.pid) / (time.monotonic() - begin)
    if view.process.poll():
        raise SystemExit(f"live ended with {view.process.returncode}: {view.process.stderr.read()}")
    return share


def facts(trace):
    """Returns (events per second, lost events)."""
    with sqlite3.connect(trace) as database:
        count, begin, end = database.execute("SELECT count(*), min(time_ns), max(time_ns) FROM event").fetchone()
        lost, = database.execute("SELECT value FROM meta WHERE key = 'lost_events'").fetchone()
    return 1e9 * count / (end - begin), lost


def watched(folder, kind):
    """Returns (CPU ns per event of the program's thread, events per second, the view's share of a core) of one run."""
    trace = pathlib.Path(folder) / "watched.db"
    program = subprocess.Popen([BUILD / "tests/pool_events", str(EVENTS), "0", str(RATE)], text=True,
                               env=simulator_environment("1GiB", LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=trace),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    while not trace.exists():
        time.sleep(0.01)
    time.sleep(0.3)  # waits until the recorder has created the tables
    view = kind(trace) if kind else None
    share = watch(program, view)
    caller = int(re.search(r"caller (\d+) ns", program.stderr.read()).group(1))
    program.stderr.close()
    if view:
        view.close()
    rate, lost = facts(trace)
    trace.unlink()
    if program.returncode or lost:
        raise SystemExit(f"the program ended with {program.returncode}, {lost} events were lost")
    return caller, rate, share


def print_live(folder):
    print(f"A pool in C at about {RATE / 1e6:.0f} million events a second, one thread: CPU ns an event of the thread, the lowest, as")
    print("others use the machine too, and the median; the events a second and what share of a core the view took until the")
    print(f"program ended, medians. {ROUNDS} runs in turn; the loop is as busy as live may be, and looks at no trace:\n")
    runs = {name: [] for name in VIEWS}
    for _ in range(ROUNDS):
        for name, kind in VIEWS.items():
            runs[name].append(watched(folder, kind))
    print(f"  {'':<16}{'ns an event':>13}{'ratio':>7}{'median':>8}{'events a second':>17}{'share':>8}")
    alone = min(run[0] for run in runs["nobody watches"])
    for name, rows in runs.items():
        lowest, (median, rate, share) = min(run[0] for run in rows), map(statistics.median, zip(*rows))
        shown = f"{share:>8.1%}" if VIEWS[name] else ""
        print(f"  {name:<16}{lowest:>13.0f}{lowest / alone:>7.2f}{median:>8.0f}{rate:>17,.0f}{shown}", flush=True)
    print()
