# SPDX-License-Identifier: MIT
"""`frag --what-if` answers how the same run would go with another setting of PyTorch's allocator. The traces are small
enough to compute the answers by hand."""
import pytest

from support.run import load_json, run_command, sentences_of
from support.tracefile import MIB, Trace

TOTAL, CONTEXT = 512 * MIB, 112 * MIB  # the process can use 400 MiB


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.card(TOTAL, CONTEXT)
    return trace


def ask(trace, what_if):
    answer = load_json("frag", trace.written(), f"--what-if={what_if}")
    return answer["devices"][0]["what_if"], " ".join(sentences_of(answer))


def cut_in_pieces(trace):
    """Makes two segments of 100 MiB, each with 10 MiB live and then 90 MiB free. 180 MiB are free, but no 150 MiB in
    one piece."""
    segments = [trace.filled_segment(100 * MIB) for _ in range(2)]
    for segment in segments:
        trace.tensor_free(segment)
    for segment in segments:
        trace.tensor(segment, 10 * MIB)
        trace.tensor(segment + 10 * MIB, 90 * MIB)
    for segment in segments:
        trace.tensor_free(segment + 10 * MIB)


def test_an_expandable_segment_holds_what_plain_ones_split(trace):
    cut_in_pieces(trace)
    trace.filled_segment(150 * MIB)
    # One range has 200 MiB in 10 pieces: | 10 | 90 free | 10 | 90 free |. The last 90 MiB grow by 60, which is 3
    # pieces. In total there are 13 x 20.
    found, answer = ask(trace, "expandable_segments")
    assert found["replayed"] is True
    assert (found["recorded_peak_reserved_bytes"], found["peak_reserved_bytes"]) == (350 * MIB, 260 * MIB)
    assert (found["live_at_peak_bytes"], found["idle_at_peak_bytes"]) == (170 * MIB, 90 * MIB)
    assert found["at_least"] is False
    assert "would reserve 260.00 MiB, not 350.00 MiB" in answer


@pytest.mark.parametrize("asked, live", [(19 * MIB + MIB // 2, 19 * MIB + MIB // 2), (3, 20 * MIB), (21 * MIB, 20 * MIB)])
def test_of_a_block_that_was_handed_out_whole_what_was_asked_counts_if_the_model_hands_it_out_whole_too(trace, asked, live):
    # A segment of 20 MiB is one tensor. Expandable segments are always split, so the tensor has its requested size. The request
    # counts only if the model would make 20 MiB of it, unlike 3 bytes or 21 MiB.
    segment = trace.alloc(20 * MIB)
    trace.event("pool-asked", address=segment, size=asked, device=0)
    trace.tensor(segment, 20 * MIB)
    found, _ = ask(trace, "expandable_segments")
    assert (found["replayed"], found["peak_reserved_bytes"], found["live_at_peak_bytes"]) == (True, 20 * MIB, live)


def test_a_failure_that_would_have_been_served_makes_the_figure_a_least_one(trace):
    cut_in_pieces(trace)
    trace.fail(202 * MIB)
    trace.fail(202 * MIB)
    trace.fail(202 * MIB, "tensor")  # 200 of 400 MiB are held
    found, answer = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["at_least"]) == (1, 0, True)
    assert "at least" in answer and "1 of the 1 allocations that failed would have been served" in answer


def test_a_failure_that_no_setting_helps_is_left(trace):
    trace.filled_segment(300 * MIB)
    for memory in ("linear", "linear", "tensor"):
        trace.fail(150 * MIB, memory)
    found, answer = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["at_least"]) == (0, 1, False)
    assert "would have failed as well" in answer


def test_what_a_memory_fraction_refuses_is_refused_or_unknown_where_the_trace_does_not_tell_it(trace):
    cut_in_pieces(trace)
    trace.fail(190 * MIB, "tensor")  # refused without asking the driver: the fraction may allow less than 200 + 190
    # In | 10 | 90 free | 10 | 90 free |, the pieces that are wholly free are given back, and 40 MiB stay. The request
    # of 190 needs 180 more, which is 9 pieces. This makes 220, more than the allowed 200.
    found, answer = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["failures_unknown"]) == (0, 0, 1)
    assert "unknown whether 1 of the 1 failed allocations would have been served" in answer


def test_what_a_memory_fraction_refuses_of_every_setting_fails_as_well(trace):
    trace.filled_segment(200 * MIB)
    trace.fail(100 * MIB, "tensor")
    found, answer = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["failures_unknown"]) == (0, 1, 0)
    assert "would have failed as well" in answer


def test_what_the_pool_held_before_a_memory_fraction_allows(trace):
    cut_in_pieces(trace)
    passing = trace.filled_segment(150 * MIB)
    trace.tensor_free(passing)
    trace.free(passing)
    trace.fail(151 * MIB, "tensor")
    found, _ = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["failures_unknown"]) == (1, 0, 0)


def told_limit(trace, size):
    """Records the limit with the precision of PyTorch's exception, a hundredth of a MiB."""
    trace.event("pool-limit", size=size, address=MIB // 100 + 1, device=0)


def test_a_memory_fraction_that_pytorch_told_when_it_refused_holds_from_the_beginning(trace):
    """Half of the card is 256 MiB, and 0.4 of this half is 102. The segment of 100 MiB is freed for the segment of 130
    MiB, as in the recording."""
    first = trace.filled_segment(100 * MIB)
    trace.tensor_free(first)
    trace.filled_segment(120 * MIB)
    trace.free(first)  # PyTorch frees this segment before it refuses
    trace.fail(150 * MIB, "tensor")
    told_limit(trace, 256 * MIB)
    trace.filled_segment(130 * MIB)
    found, answer = ask(trace, "garbage_collection=0.4")
    assert (found["replayed"], found["peak_reserved_bytes"]) == (True, 250 * MIB)
    assert (found["failures_left"], found["failures_unknown"]) == (1, 0)
    assert "only under a memory fraction" not in answer


def test_what_a_told_memory_fraction_allows_is_served_for_sure(trace):
    cut_in_pieces(trace)
    trace.fail(190 * MIB, "tensor")  # expandable segments grow to 220 for this request; 256 are allowed
    told_limit(trace, 256 * MIB)
    found, _ = ask(trace, "expandable_segments")
    assert (found["failures_served"], found["failures_left"], found["failures_unknown"]) == (1, 0, 0)


def test_a_limit_that_was_told_twice_and_differed_is_not_known(trace):
    cut_in_pieces(trace)
    for limit in (256 * MIB, 300 * MIB):
        trace.fail(190 * MIB, "tensor")
        told_limit(trace, limit)
    found, _ = ask(trace, "expandable_segments")
    assert found["failures_unknown"] == 2


def test_without_caching_only_what_is_live_is_held(trace):
    trace.tensor_free(trace.filled_segment(100 * MIB))
    trace.filled_segment(150 * MIB)
    found, _ = ask(trace, "no-cache")
    assert (found["recorded_peak_reserved_bytes"], found["peak_reserved_bytes"]) == (250 * MIB, 150 * MIB)


def test_a_large_block_is_not_cut_below_max_split(trace):
    segment = trace.filled_segment(200 * MIB)
    trace.tensor_free(segment)
    trace.tensor(segment, 30 * MIB)  # split from the 200; with the setting, this tensor has its own segment
    found, _ = ask(trace, "max_split_size=128MiB")
    assert (found["recorded_peak_reserved_bytes"], found["peak_reserved_bytes"]) == (200 * MIB, 230 * MIB)


def test_garbage_is_collected_only_under_a_memory_fraction(trace):
    trace.tensor_free(trace.filled_segment(100 * MIB))
    trace.filled_segment(120 * MIB)
    trace.filled_segment(130 * MIB)
    found, answer = ask(trace, "garbage_collection=0.4")
    assert found["peak_reserved_bytes"] == 350 * MIB
    assert "only under a memory fraction" in answer and "recorded only when memory is refused" in answer
    # Half of the card is 256 MiB, and 0.4 of this half is 102. When 120 MiB are requested, 100 are reserved, so 120 are
    # added. When 130 are requested, 220 are reserved, so the 100 are freed.
    found, answer = ask(trace, "garbage_collection=0.4,memory_fraction=0.5")
    assert (found["peak_reserved_bytes"], found["retries"]) == (250 * MIB, 0)
    assert "only under" not in answer


def test_a_fraction_that_the_run_does_not_fit_runs_out_of_memory(trace):
    trace.filled_segment(200 * MIB)
    trace.filled_segment(100 * MIB)
    found, answer = ask(trace, "memory_fraction=0.5")
    assert (found["fails_at_seq"], found["fails_asking_bytes"], found["at_least"]) == (5, 100 * MIB, True)
    assert "run out of memory at event 5, asking for 100.00 MiB" in answer


def test_memory_outside_the_pool_leaves_less_for_it(trace):
    trace.alloc(201 * MIB)  # allocated by a library: 202 in granules of 2 MiB
    trace.filled_segment(100 * MIB)
    trace.free(trace.alloc(50 * MIB))
    trace.tensor_free(trace.filled_segment(90 * MIB))
    trace.fail(110 * MIB)
    trace.free(0x7F0000000000 + (202 + 100 + 50) * MIB)  # 98 are left, including the 90 that were freed
    trace.fail(110 * MIB)
    trace.fail(110 * MIB, "tensor")
    found, _ = ask(trace, "no-cache")
    assert (found["replayed"], found["failures_left"]) == (True, 1)


def test_a_recording_that_the_model_does_not_give_is_named_and_gets_no_figure(trace):
    segment = trace.filled_segment(20 * MIB)
    trace.tensor_free(segment)
    other = trace.alloc(20 * MIB)
    seq = len(trace.events) + 1
    trace.tensor(other, 20 * MIB)  # although the first segment is free and large enough
    found, answer = ask(trace, "expandable_segments")
    assert (found["replayed"], found["differs_at_seq"]) == (False, seq)
    assert found["peak_reserved_bytes"] is None and found["recorded_peak_reserved_bytes"] is None
    assert f"At event {seq} PyTorch took 20.00 MiB" in answer and "waits for another stream's event" in answer


def test_segments_of_another_size_are_a_difference(trace):
    segment = trace.alloc(40 * MIB)
    trace.tensor(segment, 5 * MIB)  # PyTorch would ask for a segment of 20
    found, _ = ask(trace, "no-cache")
    assert (found["replayed"], found["differs_at_seq"]) == (False, 3)


def test_emptying_the_cache_empties_it_under_the_other_setting_too(trace):
    segment = trace.filled_segment(100 * MIB)
    trace.tensor_free(segment)
    trace.free(segment)
    trace.filled_segment(150 * MIB)
    found, _ = ask(trace, "expandable_segments")
    assert (found["recorded_peak_reserved_bytes"], found["peak_reserved_bytes"]) == (150 * MIB, 160 * MIB)


def test_streams_do_not_share(trace):
    trace.tensor_free(trace.filled_segment(20 * MIB))
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 20 * MIB, stream=0xA1)
    found, _ = ask(trace, "no-cache")
    assert (found["replayed"], found["recorded_peak_reserved_bytes"]) == (True, 40 * MIB)


def capture(trace, stream, graph, *fill_sizes):
    """Captures a graph that allocates each of fill_sizes in a segment of its own; returns their addresses."""
    trace.event("capture-begin", stream=stream)
    segments = [trace.alloc(size) for size in fill_sizes]
    for segment, size in zip(segments, fill_sizes):
        trace.tensor(segment, size, stream=stream)
    trace.event("capture-end", stream=stream, object=graph)
    return segments


def test_a_graphs_private_pool_serves_nobody_else_and_stays_until_the_graph_is_gone(trace):
    (segment,) = capture(trace, 7, 0x91, 60 * MIB)
    trace.tensor_free(segment)
    other = trace.alloc(50 * MIB)
    trace.tensor(other, 50 * MIB, stream=7)  # although 60 are free on the same stream
    trace.event("graph-destroy", object=0x91)
    trace.tensor_free(other)
    trace.free(segment)  # empties the cache: both segments are freed
    trace.free(other)
    trace.filled_segment(100 * MIB)
    found, _ = ask(trace, "expandable_segments")
    assert (found["replayed"], found["recorded_peak_reserved_bytes"]) == (True, 110 * MIB)
    assert found["peak_reserved_bytes"] == 120 * MIB  # the graph's 60, and 3 pieces of 20


def test_a_private_pool_that_exists_keeps_its_cache_when_it_is_emptied(trace):
    (segment,) = capture(trace, 7, 0x91, 60 * MIB)
    trace.tensor_free(segment)
    passing = trace.filled_segment(40 * MIB)
    trace.tensor_free(passing)
    trace.free(passing)  # the graph's segment stays
    trace.filled_segment(100 * MIB)
    found, _ = ask(trace, "expandable_segments")
    assert (found["recorded_peak_reserved_bytes"], found["peak_reserved_bytes"]) == (160 * MIB, 160 * MIB)


def test_captures_that_take_tensors_in_one_segment_share_their_pool_from_then_on(trace):
    (segment,) = capture(trace, 7, 0x91, 60 * MIB)
    trace.tensor_free(segment)
    trace.event("capture-begin", stream=8, thread=2)
    trace.tensor(segment, 30 * MIB, stream=7, thread=2)  # in the segment and on the stream of the first capture
    trace.tensor(segment + 30 * MIB, 30 * MIB, stream=7, thread=2)
    trace.event("capture-end", stream=8, thread=2, object=0x92)
    found, _ = ask(trace, "no-cache")
    assert (found["replayed"], found["recorded_peak_reserved_bytes"]) == (True, 60 * MIB)


def test_a_refusal_during_a_capture_empties_no_cache(trace):
    kept = trace.filled_segment(200 * MIB)
    trace.tensor_free(kept)
    trace.event("capture-begin", stream=7)
    trace.fail(250 * MIB)
    trace.fail(250 * MIB, "tensor", stream=7)  # 200 of 400 MiB are cached, and stay
    trace.event("capture-end", stream=7, object=0)
    trace.tensor(kept, 200 * MIB)
    found, _ = ask(trace, "max_split_size=512MiB")
    assert (found["replayed"], found["failures_left"]) == (True, 1)


def two_free_blocks_of_a_size(trace):
    """Makes two free blocks of the same size. The older block has the higher address, because the driver reuses the
    lower address after a free."""
    low, high = trace.filled_segment(40 * MIB), trace.filled_segment(20 * MIB)
    trace.tensor_free(low)
    trace.free(low)
    trace.alloc(20 * MIB, address=low)
    trace.tensor(low, 20 * MIB)
    trace.tensor_free(low)
    trace.tensor_free(high)
    return low, high


@pytest.mark.parametrize("oldest", [False, True])
def test_among_equals_the_lowest_block_is_taken_or_that_of_the_oldest_segment(trace, oldest):
    low, high = two_free_blocks_of_a_size(trace)
    first, second = (high, low) if oldest else (low, high)
    trace.tensor(first, 20 * MIB)
    trace.tensor_free(first)
    trace.tensor(first, 20 * MIB)
    trace.tensor(second, 20 * MIB)
    found, _ = ask(trace, "no-cache")
    assert found["replayed"] is True


def test_an_expandable_segment_grows_by_what_a_request_lacks(trace):
    for size, asked in ((36 * MIB, 69 * MIB // 2), (26 * MIB, 49 * MIB // 2)):
        trace.tensor(trace.alloc(size), asked)
    # 34.5 MiB in 2 pieces of 20 leave 5.5 free. 24.5 need 19 more, which is one piece. The segment's 26 would need two
    # pieces.
    found, _ = ask(trace, "expandable_segments")
    assert (found["replayed"], found["peak_reserved_bytes"]) == (True, 60 * MIB)


def test_a_trace_without_pytorchs_pool_has_nothing_to_replay(trace):
    trace.alloc(20 * MIB)
    found, answer = ask(trace, "no-cache")
    assert found is None and "nothing was recorded" in answer


@pytest.mark.parametrize("wrong", ["expandable", "max_split_size=1MiB", "garbage_collection=2", "no-cache,x"])
def test_a_setting_that_is_not_understood_is_an_error_that_lists_them(trace, wrong):
    completed = run_command("frag", trace.write(), f"--what-if={wrong}")
    assert completed.returncode == 2
    assert "expandable_segments, max_split_size=SIZE, no-cache" in completed.stderr
