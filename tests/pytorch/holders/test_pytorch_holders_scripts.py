# SPDX-License-Identifier: MIT
"""The scripts of tests/pytorch/scripts allocate and print the same with walks over Python's objects as without, and the walks
find what holds their memory."""
import pytest

EVENTS = "SELECT kind, address, size_bytes FROM event WHERE memory = 10 ORDER BY seq"
# A backward pass runs on a thread of its own, so its frees race with allocations.
SINGLE_THREADED = ["growing.py", "plain_tensors.py", "empty_cache.py", "inference.py", "fragmented.py", "garbage.py"]
HELD_BY_PYTHON = ["growing.py", "garbage.py", "facts.py", "finetune.py", "side_streams.py"]
# Bytes of a walk's event that are live in PyTorch's pool, and those of storages that the walk named, in the pool's block sizes.
BYTES = """SELECT walk_id, (SELECT sum(size_bytes) FROM blocks WHERE account = 'pool' AND seq <= event_number
                            AND (end_seq IS NULL OR end_seq > event_number)),
                  (SELECT sum((size_bytes + 511) / 512 * 512) FROM holder
                   WHERE holder.walk_id = walk.walk_id AND kind <> 'c++')
           FROM walk"""
REST_LEFT_ALONE = 1 << 20  # walk_start.py: REST_BYTES


@pytest.mark.parametrize("script", SINGLE_THREADED)
def test_a_script_allocates_and_prints_the_same_with_walks(dry_run, script):
    walked, alone = dry_run(script), dry_run(script, GPUMEMTRACE_NO_HOLDERS="1")
    assert walked.rows("SELECT count(*) > 0 FROM walk") == [(1,)] and alone.rows("SELECT count(*) FROM walk") == [(0,)]
    assert walked.rows(EVENTS) == alone.rows(EVENTS)
    assert walked.completed.stdout == alone.completed.stdout


@pytest.mark.parametrize("script", HELD_BY_PYTHON)
def test_a_walk_names_what_keeps_all_but_a_twentieth_of_the_live_bytes(dry_run, script):
    walks = [row for row in dry_run(script, check=False).rows(BYTES) if row[1]]
    assert walks
    for walk, live, held in walks:
        assert live - max(live / 20, REST_LEFT_ALONE) <= (held or 0) <= live, walk
