# SPDX-License-Identifier: MIT
"""The line at exit counts the same refused calls as the report does. Both count only calls that asked for memory."""
import pytest

from support.run import load_json

LAYERS = ("driver", "managed", "host", "imported")


@pytest.mark.parametrize("count, says", [(0, "see: gpumemtrace report"), (1, ", 1 call refused;"), (3, ", 3 calls refused;")])
def test_a_refused_address_range_is_no_refused_memory(record, program, count, says):
    recording = record(program("refused_ranges"), count)
    (device,) = load_json("report", recording.trace)["devices"]
    assert sum(device[layer]["failed"] for layer in LAYERS) == count
    assert says in recording.completed.stderr
