# SPDX-License-Identifier: MIT
"""Measures what a pool's events at full speed cost the pool's thread and the recorder's writer, and the size of the
trace."""
import os
import pathlib
import re
import sqlite3
import subprocess

MIB = 1 << 20
FACTS = ("lost_events", "ring_full_ns", "complete")


def recorded(program, events, frames, environment, folder):
    """Returns (caller's CPU ns per event, writer's CPU ns per event, highest resident bytes added, trace) of one run."""
    process = subprocess.Popen([program, str(events), str(frames)], env=environment, cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    resident = [int(line) for line in process.stdout.read().split()]
    caller_ns = int(re.search(r"caller (\d+) ns", process.stderr.read()).group(1))
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{program} ended with {status}")
    all_ns = 1e9 * (usage.ru_utime + usage.ru_stime) / events
    trace = max(pathlib.Path(folder).glob("*.db"), key=lambda path: path.stat().st_size)
    return caller_ns, all_ns - caller_ns, max(resident) - resident[0], trace


def facts(trace):
    with sqlite3.connect(trace) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        stored, = database.execute("SELECT count(*) FROM event").fetchone()
    return stored, *(meta[key] for key in FACTS)


def print_writer(program, environment, folder, runs):
    """Prints one row for each run; `runs` holds (events, frames, ring)."""
    print("A pool in C as fast as it can, one thread: CPU ns an event (of the thread, of the writer, together),")
    print("memory that was added, seconds that the thread waited, bytes an event on disk:\n")
    print(f"  {'events':>11}{'frames':>8}{'ring':>7}{'caller':>8}{'writer':>8}{'both':>6}"
          f"{'MiB':>6}{'waited':>8}{'lost':>6}{'bytes':>7}")
    for events, frames, ring in runs:
        caller, writer, added, trace = recorded(
            program, events, frames, {**environment, "GPUMEMTRACE_RING_MAX": ring}, folder)
        stored, lost, full_ns, complete = facts(trace)
        size = trace.stat().st_size / events
        trace.unlink()
        if stored < events or not complete:
            raise SystemExit(f"{stored} of {events} events were stored")
        print(f"  {events:>11,}{frames:>8}{ring:>7}{caller:>8}{writer:>8.0f}{caller + writer:>6.0f}"
              f"{added / MIB:>6.1f}{full_ns / 1e9:>8.1f}{lost:>6}{size:>7.1f}", flush=True)
    print()
