# SPDX-License-Identifier: MIT
"""Compares `leaks` and `steps` with a slow reading of the same events, on random programs with a loop. GPUMEMTRACE_SEEDS
chooses the programs, as in test_reference.py."""

import pytest

from reference.comparing import check_loop
from reference.loop_trace import make_loop
from reference.test_reference import AT_ONCE, CHOSEN


@pytest.mark.parametrize("first", CHOSEN[::AT_ONCE])
def test_growth_and_steps_are_those_of_a_slow_reading(tmp_path, first):
    found = []
    for seed in CHOSEN[CHOSEN.index(first) :][:AT_ONCE]:
        trace = make_loop(tmp_path / f"{seed}.db", seed)
        found += [f"seed {seed}: {text}" for text in check_loop(trace)]
    assert not found, "\n".join(found[:20])
