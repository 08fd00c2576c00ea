# SPDX-License-Identifier: MIT
"""No two commands contradict each other about the same fact of a made-up trace."""
import pytest

from support.agreement import disagreements
from support.made_traces import MADE
from support.tracefile import Trace


@pytest.mark.parametrize("name", MADE)
def test_the_commands_agree_about_a_made_up_trace(tmp_path, name):
    fill, meta = MADE[name]
    trace = Trace(tmp_path / f"{name}.db", **meta)
    fill(trace)
    assert not disagreements(trace.write())
