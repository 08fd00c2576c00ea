# SPDX-License-Identifier: MIT
"""Random allocations on four threads. The report equals the records that the program itself keeps."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

from support.run import BUILD, load_json, simulator_environment

OPERATIONS = 200_000
THREADS = 4
SOME_LINES = 10
WAYS = ["runtime", "linked", "dlopen", "lookup"]
LARGEST_BYTES = 4 << 20


def driver_layer(report):
    assert len(report["devices"]) == 1
    return report["devices"][0]["driver"]


@pytest.mark.parametrize("way", WAYS)
def test_report_equals_the_books_of_a_program_that_locks_each_call(record, program, way):
    recording = record(program("random_allocations"), way, THREADS, OPERATIONS, 1)
    books = json.loads(recording.completed.stdout)
    report = recording.report()
    layer = driver_layer(report)
    assert {key: layer[key] for key in books} == books
    assert books["failed"] > 0
    assert report["trace"]["lost_events"] == 0
    assert report["trace"]["in_flight_events"] == 0
    assert report["trace"]["complete"] is True


def test_every_way_to_the_driver_gives_the_same_report(record, program):
    layers = []
    for way in WAYS:
        recording = record(program("random_allocations"), way, 1, 20_000, 0, name=f"{way}.db")
        layer = driver_layer(recording.report())
        layers.append({key: value for key, value in layer.items() if key != "peak_time_ns"})
    assert layers == [layers[0]] * len(WAYS)
    assert layers[0]["peak_seq"] > 0


def test_without_a_lock_counts_are_exact_and_the_peak_within_the_bytes_in_flight(record, program):
    recording = record(program("random_allocations"), "runtime", THREADS, OPERATIONS, 0)
    books = json.loads(recording.completed.stdout)
    layer = driver_layer(recording.report())
    for key in ("allocations", "frees", "failed", "live_at_exit_bytes"):
        assert layer[key] == books[key], key
    assert abs(layer["peak_bytes"] - books["peak_bytes"]) <= THREADS * LARGEST_BYTES


def kill_at(moment_s, trace, way):
    """Runs the program and kills it `moment_s` after its first output, but not before it has written SOME_LINES lines.
    Returns the complete lines that the program wrote."""
    environment = simulator_environment(
        LD_PRELOAD=BUILD / "libgpumemtrace.so", GPUMEMTRACE_OUTPUT=trace
    )
    process = subprocess.Popen(
        [BUILD / "tests" / "random_allocations", way, str(THREADS), "100000000", "0", "1"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    lines, told = [], 0
    deadline = None
    while True:
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            break
        lines.append(part)
        told += part.count(b"\n")
        deadline = deadline or time.monotonic() + moment_s
        if time.monotonic() >= deadline and told >= SOME_LINES:
            process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    return b"".join(lines).decode().rpartition("\n")[0].splitlines()


def recorded_operations(trace):
    import sqlite3

    with sqlite3.connect(trace) as database:
        rows = database.execute(
            "SELECT kind.name, event.address, event.size_bytes, event.result FROM event"
            " JOIN event_kind AS kind USING (kind) WHERE kind.name IN ('alloc', 'free')"
        ).fetchall()
        meta = dict(database.execute("SELECT key, value FROM meta"))
    allocations, frees = {}, {}
    for kind, address, size, result in rows:
        if kind == "alloc" and result == 0:
            key = (address, size)
            allocations[key] = allocations.get(key, 0) + 1
        elif kind == "free" and result == 0:
            frees[address] = frees.get(address, 0) + 1
    return allocations, frees, meta


def check_killed(tmp_path, number, moment_s):
    trace = tmp_path / f"killed-{number}.db"
    told = kill_at(moment_s, trace, WAYS[number % len(WAYS)])
    trace_json = load_json("info", trace)["trace"]
    allocations, frees, _ = recorded_operations(trace)
    for line in told:
        words = line.split()
        address = int(words[1], 16)
        if words[0] == "+":
            key = (address, int(words[2]))
            allocations[key] = allocations.get(key, 0) - 1
            assert allocations[key] >= 0, f"reported and not in the trace: {line}"
        else:
            frees[address] = frees.get(address, 0) - 1
            assert frees[address] >= 0, f"reported and not in the trace: {line}"
    assert trace_json["complete"] is False
    assert trace_json["lost_events"] == 0
    assert trace_json["in_flight_events"] <= THREADS
    assert sorted(path.name for path in tmp_path.glob(f"killed-{number}.db*")) == [trace.name]
    trace.unlink()
    return len(told)


@pytest.mark.parametrize("batch", range(10))
def test_what_was_reported_before_a_sigkill_is_in_the_trace(tmp_path, batch):
    # Half of all moments are in the first 40 ms. A third of all moments are after 100 ms, when the writer has run once.
    moments = random.Random(20_000 + batch)
    told = sum(
        check_killed(tmp_path, 10 * batch + i, 0.3 * moments.random() ** 3) for i in range(10)
    )
    assert told >= 10 * SOME_LINES
