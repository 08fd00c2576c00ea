# SPDX-License-Identifier: MIT
"""Checks that some test compares each figure that a command prints."""

import random

from reference import covered, test_what_if
from reference.comparing import check_loop, check_trace
from reference.loop_trace import make_loop
from reference.random_trace import make

TRACES = 30


def test_every_key_that_a_command_prints_is_compared_or_excepted(tmp_path):
    found = []
    for seed in range(TRACES):
        trace = make(tmp_path / f"{seed}.db", seed, 40)
        found += [f"seed {seed}: {text}" for text in check_trace(trace, random.Random(seed))]
        found += [f"allocator {seed}: {text}" for text in test_what_if.differences(tmp_path / f"allocator {seed}.db", seed)]
        found += [f"loop {seed}: {text}" for text in check_loop(make_loop(tmp_path / f"loop {seed}.db", seed))]
    assert not found, "\n".join(found[:20])
    assert not covered.gaps(), "nobody compares:\n" + "\n".join(covered.gaps())
    assert not covered.idle_exceptions(), "\n".join(covered.idle_exceptions())
