# SPDX-License-Identifier: MIT
"""Compares `leaks` and `steps` with a slow reading of the same events, on random programs with a loop. GPUMEMTRACE_SEEDS
chooses the programs, as in test_reference.py."""

import pytest

from reference.comparing import check_loop
from reference.loop_trace import make_loop
from reference.test_reference import AT_ONCE, CHOSEN
from support.tracefile import MIB, Trace


@pytest.mark.parametrize("first", CHOSEN[::AT_ONCE])
def test_growth_and_steps_are_those_of_a_slow_reading(tmp_path, first):
    found = []
    for seed in CHOSEN[CHOSEN.index(first) :][:AT_ONCE]:
        trace = make_loop(tmp_path / f"{seed}.db", seed)
        found += [f"seed {seed}: {text}" for text in check_loop(trace)]
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("leaks", [0, 1])
def test_a_cut_end_is_that_of_a_slow_reading(tmp_path, leaks):
    """The gradients of a step are freed when the next one begins, so those of the last step never are."""
    trace, gradients = Trace(tmp_path / "cut.db"), []
    lines = ("model.py", 5, "forward"), ("/lib/torch/autograd/graph.py", 9, "_engine_run_backward"), (
        "/lib/torch/optim/adam.py", 7, "Adam.step")
    forward, backward, optimizer = (trace.stack("malloc", line, ("train.py", 1, "main")) for line in lines)
    for _ in range(7):
        while gradients:
            trace.free(gradients.pop())
        kept = trace.alloc(MIB, stack=forward)
        gradients = [trace.alloc(MIB, stack=backward) for _ in range(2)]
        trace.free(trace.alloc(512, stack=optimizer))
        if not leaks:
            trace.free(kept)
    trace.exit()
    assert not check_loop(trace.write())
