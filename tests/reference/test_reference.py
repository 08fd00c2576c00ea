# SPDX-License-Identifier: MIT
"""Compares each figure of the command with a slow reading of the same events, on random traces.

GPUMEMTRACE_SEEDS=1000 pytest tests/reference        (make check-long)
GPUMEMTRACE_SEEDS=417: pytest tests/reference        that seed alone
"""

import os
import random

import pytest

from reference.books import Books
from reference.comparing import ask, check_report, check_trace
from reference.figures import Figures
from reference.random_trace import make

DEEPEST = 1000
AT_ONCE = 5
SEEDS = os.environ.get("GPUMEMTRACE_SEEDS", "45")
CHOSEN = [int(SEEDS[:-1])] if SEEDS.endswith(":") else list(range(int(SEEDS)))


@pytest.mark.parametrize("first", CHOSEN[::AT_ONCE])
def test_every_figure_is_that_of_a_slow_reading(tmp_path, first):
    found = []
    for seed in CHOSEN[CHOSEN.index(first) :][:AT_ONCE]:
        trace = make(tmp_path / f"{seed}.db", seed, DEEPEST)
        found += [f"seed {seed}: {text}" for text in check_trace(trace, random.Random(seed))]
    assert not found, "\n".join(found[:20])


def test_the_traces_of_a_fork_are_reported_each_by_itself(tmp_path):
    run = {"run_id": "4242.1"}
    parent = make(tmp_path / "parent.db", 1001, DEEPEST, **run)
    child = make(tmp_path / "child.db", 1003, DEEPEST, parent_pid=4242, **{**run, "pid": 4243})
    both = ask("report", parent, child)
    for trace, report in zip((parent, child), both["traces"]):
        found = check_report(report, Figures(Books(trace)), trace)
        assert not found, "\n".join(found[:20])
