# SPDX-License-Identifier: MIT
"""The analyzer's own memory depends on the number of live blocks and of names, not on the number of events. `make
bench-large` measures every command with many more events."""

import pytest

from support.long_traces import MIB, make_trace, measured
from support.run import BUILD, PRELOAD_FIRST

FEWER, MORE = 1_000_000, 2_000_000
MOST_BYTES = 64 * MIB  # for 22,000 places of blocks and 2,000 stacks; 28 MiB were measured
COMMANDS = (("report",), ("timeline", "--by=category"), ("frag", "--samples=1"), ("steps",))
AFTER_A_FAILURE = (("oom",),)  # `oom` replays the trace a second time for its advice


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own memory grows")
@pytest.mark.parametrize("kind, commands", [("pool", COMMANDS), ("pytorch", AFTER_A_FAILURE)])
def test_memory_is_the_same_for_one_and_for_two_million_events(kind, commands, tmp_path):
    traces = [make_trace(tmp_path / f"{events}.db", kind, events) for events in (FEWER, MORE)]
    for command in commands:
        fewer, more = (measured(BUILD / "gpumemtrace", *command, "--json", trace)[2] for trace in traces)
        assert abs(more - fewer) <= 0.1 * fewer, (command, fewer, more)
        assert more <= MOST_BYTES, (command, more)
    for trace in traces:
        trace.unlink()
