# SPDX-License-Identifier: MIT
"""The memory of an export does not grow with the number of events, because formats of all events are written as a stream."""
import pytest

from support.long_traces import MIB, make_trace, measured
from support.run import BUILD, PRELOAD_FIRST

FORMATS = ("perfetto", "torch-snapshot", "csv")
FEWER, MORE = 500_000, 1_000_000
MOST_BYTES = 64 * MIB  # for 22,000 places of blocks and 2,000 stacks; 29 MiB were measured with 3 million events


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own memory grows")
def test_memory_is_the_same_for_twice_the_events(tmp_path):
    traces = [make_trace(tmp_path / f"{events}.db", "pytorch", events) for events in (FEWER, MORE)]
    for name in FORMATS:
        fewer, more = (measured(BUILD / "gpumemtrace", "export", f"--to={name}", "-o", tmp_path / "out", trace)[2] for trace in traces)
        assert abs(more - fewer) <= 0.1 * fewer, (name, fewer, more)
        assert more <= MOST_BYTES, (name, more)
