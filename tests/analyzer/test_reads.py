# SPDX-License-Identifier: MIT
"""How often a command opens trace files and replays their events. The cost of each replay grows with the length of the
trace."""
import re

import pytest

from support.made_traces import MADE
from support.run import clean_environment, run_command
from support.tracefile import Trace

MIB = 1 << 20
BOOT_NS = 1_700_000_000_000_000_000


def reads(*arguments):
    """Runs a command and returns (number of traces opened, number of replays of events)."""
    completed = run_command(*arguments, env={**clean_environment(), "GPUMEMTRACE_COUNT_READS": "1"})
    assert completed.returncode in (0, 1), completed.stderr
    return tuple(map(int, re.search(r"^reads: traces opened (\d+), events replayed (\d+)$", completed.stderr, re.M).groups()))


@pytest.fixture
def one(tmp_path):
    """Returns a function that writes the made-up trace of a name and returns the path."""

    def write(name):
        fill, meta = MADE[name]
        trace = Trace(tmp_path / f"{name}.db", **meta)
        fill(trace)
        return trace.write()

    return write


@pytest.fixture
def job(tmp_path):
    """Returns job(bytes, …), which writes the trace of a rank for each entry, on cards of their own or on one card, and
    returns the folder."""

    def write(*sizes, name="job", on_one_card=False):
        folder = tmp_path / name
        folder.mkdir()
        for rank, size in enumerate(sizes):
            start_ns = rank * 1_000_000_000
            trace = Trace(folder / f"rank{rank}.db", rank=rank, start_monotonic_ns=start_ns, start_unix_ns=BOOT_NS + start_ns)
            trace.device(0, uuid="GPU-0" if on_one_card else f"GPU-{rank}", name="H100", total_bytes=80 << 30)
            trace.alloc(size, stack=trace.stack(("/job/train.py", 12, "forward")))
            trace.write()
        return folder

    return write


COMMANDS = {
    "report": (1, 1), "peak": (1, 1), "peak --at=end": (1, 1), "peak --moments": (1, 1), "timeline": (1, 1),
    "frag": (1, 1), "frag --segments": (1, 1), "frag --what-if=expandable_segments": (1, 1), "phases": (1, 1),
    "fit": (1, 1), "leaks": (1, 1), "steps": (1, 1), "oom": (1, 1), "ledger": (1, 1), "info": (1, 1), "check --max-peak=1KiB": (1, 1),
    # The moments of a breakdown are known only after a first pass over the events.
    "timeline --by=phase": (1, 2), "report --format=html": (1, 2),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_opens_its_trace_once(one, command):
    name, *options = command.split()
    assert reads(name, one("failures_of_every_kind"), *options) == COMMANDS[command]


def test_the_moment_of_a_broken_limit_takes_further_passes_of_the_open_trace(one):
    assert reads("check", one("one_training_step"), "--max-peak=phase:forward=1KiB") == (1, 3)


def test_two_traces_are_compared_in_one_pass_each(one):
    assert reads("diff", one("one_training_step"), one("failures_of_every_kind")) == (2, 2)


UNLIKE = [(100 + 10 * rank) * MIB for rank in range(8)]


@pytest.mark.parametrize("command", ["report", "oom", "timeline"])
def test_a_job_of_eight_unlike_ranks(job, command):
    assert reads(command, job(*UNLIKE)) == (8, 8)


def test_a_job_of_eight_processes_on_one_card(job):
    assert reads("report", job(*UNLIKE, on_one_card=True)) == (8, 8)


def test_a_job_of_more_unlike_ranks_than_are_kept_open(job):
    assert reads("report", job(*[(100 + 10 * rank) * MIB for rank in range(12)])) == (20, 16)


def test_a_job_of_more_ranks_than_are_kept_open_two_of_which_are_alike(job):
    assert reads("report", job(100 * MIB, *[(100 + 10 * rank) * MIB for rank in range(11)])) == (22, 17)


def test_two_jobs_are_compared_in_one_pass_each(job):
    assert reads("diff", job(*UNLIKE, name="before"), job(*[size + 30 * MIB for size in UNLIKE], name="after")) == (16, 16)


def test_a_job_of_ranks_that_are_alike(job):
    assert reads("report", job(*[100 * MIB] * 7, 150 * MIB)) == (8, 2)
