# SPDX-License-Identifier: MIT
"""Durations of the calls that reached the driver. They are measured around the real call and stored beside the
events."""
import signal

from support.run import load_json

TIMED = ("alloc", "free", "map", "unmap")
PLAIN = ("linear", "pitched", "array", "virtual", "virtual host", "managed", "pinned host", "registered host")
CALLS = """
SELECT event.seq, event_kind.name, memory_kind.name, time_ns, thread_id, stream, result, duration_ns
FROM event JOIN event_kind USING (kind) JOIN memory_kind USING (memory) LEFT JOIN call_duration USING (seq) ORDER BY seq
"""


def timed(kind, memory):
    return kind in TIMED and memory in PLAIN


def test_calls_that_allocate_and_free_have_a_duration_and_no_others(record, program):
    rows = record(program("families")).rows(CALLS)
    assert {(kind, memory) for _, kind, memory, *_ in rows if timed(kind, memory)} >= {
        ("alloc", "linear"), ("free", "linear"), ("alloc", "virtual"), ("map", "virtual"), ("alloc", "pinned host"),
    }  # fmt: skip
    for seq, kind, memory, *_, duration in rows:
        assert (duration is not None) == timed(kind, memory), (seq, kind, memory)


def test_a_call_begins_after_the_event_before_it_on_its_thread(record, program):
    # Two clocks of one thread drift apart; a long call that other processes delayed may drift by 1/1000 more.
    drift_ns = 10_000
    before = {}
    for _, kind, memory, time_ns, thread, stream, _, duration in record(program("random_allocations"), "runtime", 4, 500, 1).rows(CALLS):
        if timed(kind, memory):
            assert duration > 0 and stream == 0
        if timed(kind, memory) and kind in ("alloc", "map"):
            assert time_ns - duration >= before.get(thread, 0) - drift_ns - duration // 1000
        before[thread] = time_ns


def test_a_call_that_had_not_returned_has_no_duration(record, program):
    recording = record(program("dies_with_events"), check=False)
    assert recording.completed.returncode == -signal.SIGKILL
    load_json("info", recording.trace)  # this command folds the ring
    rows = recording.rows(CALLS)
    assert any(duration for *_, duration in rows)
    assert all(duration is None for *_, result, duration in rows if result is None)
