# SPDX-License-Identifier: MIT
"""The recorder calls for memory, files, threads and SQLite, and these calls fail. The program must run and end as
usual, the recorder may print at most one line, and the recorded events must be readable.

Each failing call needs its own run. There are thousands of calls, so one test tries every n-th call. With
GPUMEMTRACE_FAULTS=all, further tests try the calls in between.
"""
import os
import re
import subprocess

import pytest

from support.run import PRELOAD_FIRST, SLOWER, TIMEOUT_S, run_command, simulator_environment

ALL = os.environ.get("GPUMEMTRACE_FAULTS") == "all"
EVENTS = 22  # the number of events that the work in fault_loop.c makes, without its exit

pytestmark = pytest.mark.skipif(
    bool(PRELOAD_FIRST), reason="a sanitizer brings its own malloc, which no other can stand before"
)


@pytest.fixture
def loop(build, program, tmp_path):
    """Returns a function: loop("files", "one", "later", 3, 1) runs fault_loop.c with these arguments and returns the
    CompletedProcess."""

    def run(*arguments, **settings):
        return subprocess.run(
            [program("fault_loop"), *map(str, arguments)],
            env=simulator_environment(**settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=tmp_path,
        )

    return run


def assert_readable(trace):
    """Checks that the trace can be read, and that every event is either in the trace or counted as lost."""
    completed = run_command("info", trace, "--json")
    assert completed.returncode == 0, completed.stderr
    figures = dict(re.findall(r'"(events|lost_events)": (\d+)', completed.stdout))
    assert int(figures["events"]) + int(figures["lost_events"]) >= EVENTS, completed.stdout


def assert_said_once(said):
    lines = said.splitlines()
    assert all(line.startswith("gpumemtrace: ") for line in lines), said
    at_exit = [line for line in lines if "; see: " in line or "is incomplete" in line]
    assert len(at_exit) <= 1 and len(lines) - len(at_exit) <= 1, said


CASES = [
    ("memory", "one", "start", 83),
    ("memory", "one", "later", 5),
    ("memory", "rest", "start", 127),
    ("memory", "rest", "later", 11),
    ("files", "one", "start", 5),
    ("files", "one", "later", 3),
    ("files", "rest", "start", 13),
    ("files", "rest", "later", 9),
    ("threads", "one", "start", 1),
    ("threads", "rest", "start", 1),
    ("sqlite", "one", "start", 11),
    ("sqlite", "one", "later", 3),
    ("sqlite", "rest", "start", 23),
    ("sqlite", "rest", "later", 5),
]


@pytest.mark.parametrize("group, mode, since, step, first", [
    (group, mode, since, step * SLOWER, first)
    for group, mode, since, step in CASES for first in range(1, step * SLOWER + 1 if ALL else 2)
])  # fmt: skip
def test_a_program_is_unharmed_whichever_call_of_the_recorder_fails(
    loop, build, tmp_path, group, mode, since, step, first
):
    bare = loop(group, mode, since, step, first)
    library = build / ("tests/faulty" if group == "sqlite" else "") / "libgpumemtrace.so"
    recorded = loop(
        group,
        mode,
        since,
        step,
        first,
        LD_PRELOAD=f"{build / 'tests/preload_faults.so'}:{library}",
        GPUMEMTRACE_OUTPUT=tmp_path / "trace.%p.db",
        TMPDIR=tmp_path,
    )
    assert recorded.returncode == bare.returncode == 5, recorded.stdout + recorded.stderr
    seen = re.sub(r"number.*\n", "", recorded.stdout)
    assert seen == re.sub(r"number.*\n", "", bare.stdout)
    pids = re.findall(r"number \d+ pid (\d+)", recorded.stdout)
    assert len(pids) > 2
    for pid in pids:
        said = (tmp_path / f"said.{pid}").read_text()
        traces = list(tmp_path.glob(f"trace.{pid}.*db"))
        assert_said_once(said)
        assert traces or "not recording" in said
        for trace in traces:
            assert_readable(trace)
    assert not list(tmp_path.glob("*-ring.*"))
