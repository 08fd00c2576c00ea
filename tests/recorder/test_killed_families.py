# SPDX-License-Identifier: MIT
"""A program that uses every family of calls is killed at any moment. Its trace has every event that the program
printed."""
import json
import os
import random
import re
import signal
import subprocess

import pytest

from support import matrix
from support.run import BUILD, LIBRARY, NO_STACKS_IF_SLOW, load_json, simulator_environment

MARK = re.compile(r'\{"mark": "([^"]*)", "events": \[')
EVENT = re.compile(r'\{"kind": [^{}]*\}')
ATTEMPTS = 100


def run_and_kill(folder, after_bytes=None):
    """Runs the program and kills it when it has printed `after_bytes` bytes. With None, the program runs to its end.
    Returns the output of the program, which is not buffered."""
    process = subprocess.Popen(
        ["stdbuf", "-o0", str(BUILD / "tests/matrix"), "linked"],
        env=simulator_environment(
            "h100",
            LD_PRELOAD=LIBRARY,
            GPUMEMTRACE_OUTPUT=folder / "trace.db",
            **NO_STACKS_IF_SLOW,
        ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        books = process.stdout.read(after_bytes)
        if after_bytes is not None:
            os.killpg(process.pid, signal.SIGKILL)  # this also kills the children that share memory with the process
        return (books + process.stdout.read()).decode()


def booked_families(text):
    """Returns [(mark, the events that the program printed after this mark)]."""
    parts = MARK.split(text)[1:]
    return [
        (mark, [json.loads(event) for event in EVENT.findall(events)])
        for mark, events in zip(parts[::2], parts[1::2])
    ]


def recorded_under(rows, mark):
    begin = next(i for i, row in enumerate(rows) if row["text"] == mark) + 1
    rest = rows[begin:]
    end = next((i for i, row in enumerate(rest) if row["kind"] == "mark"), len(rest))
    return [row for row in rest[:end] if matrix.counts(row, mark)]


def check_killed(folder, after_bytes):
    """Kills the program after this many bytes. Returns the number of printed events that were checked."""
    booked = [
        (mark, events) for mark, events in booked_families(run_and_kill(folder, after_bytes)) if events
    ]
    if not booked:
        return 0
    trace = load_json("info", folder / "trace.db")["trace"]
    assert trace["lost_events"] == 0
    rows = matrix.read_rows(folder / "trace.db")
    for mark, events in booked:
        recorded = recorded_under(rows, mark)
        assert len(recorded) >= len(events), (mark, events, recorded)
        for row, event in zip(recorded, events):
            assert matrix.same(row, event, "exact"), (mark, event, row)
    assert not list(folder.glob("trace.db-*"))
    return sum(len(events) for _, events in booked)


@pytest.fixture(scope="module")
def whole_bytes(tmp_path_factory):
    """Returns the number of bytes that the program prints if it is not killed."""
    return len(run_and_kill(tmp_path_factory.mktemp("whole")))


@pytest.mark.parametrize("batch", range(10))
def test_what_every_family_booked_before_a_sigkill_is_in_the_trace(tmp_path, whole_bytes, batch):
    moments = random.Random(30_000 + batch)
    looked_for = 0
    for attempt in range(ATTEMPTS // 10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        looked_for += check_killed(folder, moments.randrange(whole_bytes))
    assert looked_for > 10
