# SPDX-License-Identifier: MIT
"""Measures the cost of reading traces with different numbers of events and the same live set: CPU time, wall time and
highest resident bytes of each command, compared with SQLite stepping through the same columns."""

import pathlib

from support.long_traces import MIB, PROGRAMS, make_trace, measured
from support.run import BUILD

# {command that reads a trace: its highest allowed cost in scans by SQLite}
COMMANDS = {
    ("report",): 2,
    ("report", "--series"): 4,  # the data of a page may cost twice as much as a report
    ("peak",): 2,
    ("peak", "--tree"): 2,
    ("peak", "--moments"): 2,
    ("timeline",): 2,
    ("timeline", "--axis=step"): 3,  # a first pass finds the events that end a step
    ("timeline", "--by=category"): 3,  # a first pass finds the moments to break down
    ("frag",): 2,
    ("frag", "--what-if=no-cache"): 3,  # one pass, and two simulated allocators
    ("phases",): 2,
    ("leaks",): 2,
    ("steps",): 2,
    ("oom",): 2,
    ("ledger",): 2,
    ("fit",): 8,  # a report, and two passes with simulated allocators
    ("check", "--max-peak=1TiB", "--allow-oom"): 2,
    ("info",): 2,
}
ADVISING = ("report", "oom")  # if an allocation failed, advice needs a second pass up to the failure
AFTER_FAILURE = 3
FEW, ROUNDS = 3_000_000, 3  # above FEW events one run is long enough to measure


def bound_of(command, kind):
    bound = COMMANDS[command]
    if kind == "pytorch" and command[0] in ADVISING:
        bound += AFTER_FAILURE - COMMANDS[command[:1]]
    return bound


def print_row(name, figures, scan, bound=None):
    cpu, wall, resident = figures
    print(f"  {name:<28}{cpu:>9.2f}{wall:>9.2f}{resident / MIB:>9.1f}{cpu / scan:>9.2f}{bound or '':>9}", flush=True)


def lowest(rounds, *command):
    """Returns the figures of the fastest run, because a shared machine only adds time."""
    return min(measured(*command) for _ in range(rounds))


def print_reading(kind, events, folder):
    trace = make_trace(pathlib.Path(folder) / "large.db", kind, events)
    rounds = 1 if events > FEW else ROUNDS
    print(f"{kind}, {events:,} events, {trace.stat().st_size / events:.1f} bytes each on disk:\n")
    print(f"  {'':<28}{'CPU s':>9}{'wall s':>9}{'MiB':>9}{'of scan':>9}{'at most':>9}")
    scan = lowest(rounds, PROGRAMS / "bench_scan", trace)
    print_row("SQLite scan", scan, scan[0])
    for command in COMMANDS:
        figures = lowest(rounds, BUILD / "gpumemtrace", *command, "--json", trace)
        print_row(" ".join(command), figures, scan[0], bound_of(command, kind))
    print()
    trace.unlink()
