# SPDX-License-Identifier: MIT
"""The scripts of tests/pytorch/scripts allocate and print the same with walks over Python's objects as without."""
import pytest

EVENTS = "SELECT kind, address, size_bytes FROM event WHERE memory = 10 ORDER BY seq"
# A backward pass runs on a thread of its own, so its frees race with allocations.
SINGLE_THREADED = ["growing.py", "plain_tensors.py", "empty_cache.py", "inference.py"]


@pytest.mark.parametrize("script", SINGLE_THREADED)
def test_a_script_allocates_and_prints_the_same_with_walks(dry_run, script):
    walked, alone = dry_run(script), dry_run(script, GPUMEMTRACE_NO_HOLDERS="1")
    assert walked.rows("SELECT count(*) > 0 FROM walk") == [(1,)] and alone.rows("SELECT count(*) FROM walk") == [(0,)]
    assert walked.rows(EVENTS) == alone.rows(EVENTS)
    assert walked.completed.stdout == alone.completed.stdout
