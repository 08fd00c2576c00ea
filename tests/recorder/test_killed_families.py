# SPDX-License-Identifier: MIT
"""A program that uses every family of calls is killed at any moment: what it had booked is in its trace."""
import json
import os
import random
import re
import signal
import subprocess
import time

import pytest

from support import matrix
from support.run import BUILD, LIBRARY, NO_STACKS_IF_SLOW, load_json, simulator_environment

MARK = re.compile(r'\{"mark": "([^"]*)", "events": \[')
EVENT = re.compile(r'\{"kind": [^{}]*\}')
ATTEMPTS = 100


def run_and_kill(folder, moment_s=None):
    """What the program had printed when it was killed, or at its end. Its output is not buffered."""
    with open(folder / "books", "w+", encoding="utf-8") as books:
        process = subprocess.Popen(
            ["stdbuf", "-o0", str(BUILD / "tests/matrix"), "linked"],
            env=simulator_environment(
                "h100",
                LD_PRELOAD=LIBRARY,
                GPUMEMTRACE_OUTPUT=folder / "trace.db",
                **NO_STACKS_IF_SLOW,
            ),
            stdin=subprocess.DEVNULL,
            stdout=books,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if moment_s is not None:
            time.sleep(moment_s)
            os.killpg(process.pid, signal.SIGKILL)  # and the children that share memory with it
        process.wait()
        books.seek(0)
        return books.read()


def booked_families(text):
    """(mark, the events that were booked under it)."""
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


def check_killed(folder, moment_s):
    """Returns how many booked events were looked for."""
    booked = [
        (mark, events) for mark, events in booked_families(run_and_kill(folder, moment_s)) if events
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
def whole_run_s(tmp_path_factory):
    """How long the whole program takes on this machine."""
    start_s = time.monotonic()
    run_and_kill(tmp_path_factory.mktemp("whole"))
    return time.monotonic() - start_s


@pytest.mark.parametrize("batch", range(10))
def test_what_every_family_booked_before_a_sigkill_is_in_the_trace(tmp_path, whole_run_s, batch):
    moments = random.Random(30_000 + batch)
    looked_for = 0
    for attempt in range(ATTEMPTS // 10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        looked_for += check_killed(folder, moments.uniform(0.0, whole_run_s))
    assert looked_for > 10
