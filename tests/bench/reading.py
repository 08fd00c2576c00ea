# SPDX-License-Identifier: MIT
"""What reading a trace costs, by the number of its events and with the same live set: CPU, wall time and the
highest resident bytes of each command, beside SQLite stepping through the same columns. It must not know who
asks."""

import pathlib

from support.long_traces import MIB, PROGRAMS, make_trace, measured
from support.run import BUILD

COMMANDS = ("report", "peak", "timeline", "frag", "leaks", "steps", "phases", "oom", "info")


def print_row(name, figures, scan):
    cpu, wall, resident = figures
    print(f"  {name:<12}{cpu:>9.2f}{wall:>9.2f}{resident / MIB:>9.1f}{cpu / scan:>9.2f}", flush=True)


def print_reading(kind, events, folder):
    trace = make_trace(pathlib.Path(folder) / "large.db", kind, events)
    size = trace.stat().st_size
    print(f"{kind}, {events:,} events, {size / events:.1f} bytes each on disk:\n")
    print(f"  {'':<12}{'CPU s':>9}{'wall s':>9}{'MiB':>9}{'of scan':>9}")
    scan = measured(PROGRAMS / "bench_scan", trace)
    print_row("SQLite scan", scan, scan[0])
    for command in COMMANDS:
        print_row(command, measured(BUILD / "gpumemtrace", command, "--json", trace), scan[0])
    print()
    trace.unlink()
