# SPDX-License-Identifier: MIT
"""`fit` finds the smallest card, MIG slice and memory fraction on which a recorded run fits, and says whether it fits
on the next smaller card. The traces are small enough to compute the answers by hand."""
import pytest

from support.run import load_json, sentences_of
from support.tracefile import MIB, Trace

GIB = 1024 * MIB
TOTAL, CONTEXT = 16 * GIB, 300 * MIB
T4 = 15102 * MIB  # the smallest card known; 14,799 MiB of it are surely usable


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.card(TOTAL, CONTEXT)
    return trace


def fit(trace):
    answer = load_json("fit", trace.write())
    (device,) = answer["devices"]
    return device, {row["retries"]: row for row in device["fit"] or []}, " ".join(sentences_of(answer))


def test_the_card_holds_what_was_reserved_and_a_smallest_card_has_none_below(trace):
    trace.tensor_free(trace.filled_segment(600 * MIB))
    trace.filled_segment(700 * MIB)
    device, rows, answer = fit(trace)
    assert device["context_bytes"] == CONTEXT and device["at_least"] is False
    assert set(rows) == {"none"} and rows["none"]["card"] == "t4"
    assert (rows["none"]["card_bytes"], rows["none"]["pool_bytes"]) == (1600 * MIB, 1300 * MIB)
    assert (rows["none"]["fits"], rows["none"]["retry_count"]) == (True, 0)
    fraction = rows["none"]["memory_fraction"]  # PyTorch rounds fraction x total down; one byte less is too little
    assert fraction == pytest.approx(1300 / 16384, abs=1e-6) and int(fraction * TOTAL) >= 1300 * MIB
    assert "1.56 GiB without retries" in answer and "next smaller" not in answer


def test_the_next_smaller_card_runs_it_if_the_cache_can_be_flushed(trace):
    trace.tensor_free(trace.filled_segment(7 * GIB))
    trace.filled_segment(8 * GIB)  # 15 GiB are reserved in total; on a T4, PyTorch first frees the 7 GiB
    _, rows, answer = fit(trace)
    assert (rows["none"]["card_bytes"], rows["none"]["card"]) == (15 * GIB + CONTEXT, "v100-16")
    smaller = {"retries": "allowed", "card_bytes": T4, "card": "t4", "fits": True, "retry_count": 1}
    assert rows["allowed"] == {"mig_slice": None, "pool_bytes": None, "memory_fraction": None} | smaller
    assert "The next smaller card known here, t4 (14.75 GiB), would run it with 1 retry," in answer


def test_fragments_that_cannot_go_back_keep_it_from_the_next_smaller_card(trace):
    segment = trace.filled_segment(7 * GIB)
    trace.tensor_free(segment)
    trace.tensor(segment, 30 * MIB)  # pins the segment
    trace.filled_segment(8 * GIB)
    _, rows, answer = fit(trace)
    assert (rows["allowed"]["card"], rows["allowed"]["fits"], rows["allowed"]["retry_count"]) == ("t4", False, None)
    assert "The next smaller card known here, t4 (14.75 GiB), would not run it" in answer


@pytest.mark.parametrize("last_mib, fits", [(14498, True), (14500, False)])
def test_two_percent_of_the_next_smaller_card_stay_unused(trace, last_mib, fits):
    trace.tensor_free(trace.filled_segment(600 * MIB))
    trace.filled_segment(last_mib * MIB)  # beside the context of 300
    _, rows, _ = fit(trace)
    assert rows["allowed"]["card"] == "t4" and rows["allowed"]["fits"] is fits


def test_a_context_that_was_seen_to_grow_needs_room_as_large_as_it_became(trace):
    """The context grows when kernels are first used. Only the next sample of cuMemGetInfo shows the growth."""
    trace.tensor_free(trace.filled_segment(600 * MIB))
    trace.filled_segment(14470 * MIB)
    trace.device_memory(TOTAL - (15070 + 340) * MIB, TOTAL)
    device, rows, _ = fit(trace)
    assert device["context_bytes"] == 340 * MIB
    assert rows["none"]["card_bytes"] == (15070 + 340) * MIB
    assert rows["allowed"]["fits"] is False  # with a context of 300 MiB it would fit


def test_other_memory_of_the_process_needs_room_as_it_was(trace):
    trace.alloc(101 * MIB)  # 102 in granules of 2 MiB
    trace.filled_segment(200 * MIB)
    _, rows, _ = fit(trace)
    assert rows["none"]["card_bytes"] == (300 + 102 + 200) * MIB


@pytest.mark.parametrize("is_freed", [True, False])
def test_other_memory_needs_room_although_no_request_of_the_pool_follows(trace, is_freed):
    """A library allocates after the last tensor, beside a pool that caches all of its memory."""
    segments = [trace.filled_segment(size * MIB) for size in (7000, 7600)]
    for segment in segments:
        trace.tensor_free(segment)
    other = trace.alloc(500 * MIB)
    if is_freed:
        trace.free(other)
    _, rows, _ = fit(trace)
    assert rows["none"]["card_bytes"] == (300 + 14600 + 500) * MIB
    assert (rows["allowed"]["card"], rows["allowed"]["fits"]) == ("t4", False)


def test_what_failed_must_be_served_and_more_may_have_been_asked(trace):
    trace.filled_segment(10 * GIB)
    for memory in ("linear", "linear", "tensor"):
        trace.fail(8 * GIB, memory)
    device, rows, answer = fit(trace)
    assert device["at_least"] is True and "at least" in answer
    assert rows["none"]["card_bytes"] == 18 * GIB + CONTEXT
    assert rows["none"]["memory_fraction"] is None  # more memory than the recorded card has
    assert (rows["none"]["card"], rows["none"]["mig_slice"]) == ("a10", "a100-2g.20gb")


def test_a_card_is_named_only_with_two_percent_to_spare(trace):
    trace.filled_segment(14 * GIB + 160 * MIB)  # 14.45 GiB with the context; 14.453 of a T4's 14.75 GiB are usable
    _, rows, _ = fit(trace)
    assert rows["none"]["card"] == "t4"
    trace.path.unlink()
    trace.filled_segment(20 * MIB)
    _, rows, _ = fit(trace)
    assert rows["none"]["card"] == "v100-16"


def test_without_a_pool_the_drivers_peak_and_the_context_are_needed(trace):
    trace.free(trace.alloc(500 * MIB))
    trace.alloc(3 * MIB)
    device, rows, answer = fit(trace)
    assert set(rows) == {"none"} and rows["none"]["card_bytes"] == 800 * MIB
    assert rows["none"]["pool_bytes"] is None
    assert "the driver's memory at its peak" in answer


def test_a_recording_that_the_model_does_not_give_gets_no_figure(trace):
    trace.tensor_free(trace.filled_segment(20 * MIB))
    other = trace.alloc(20 * MIB)
    trace.tensor(other, 20 * MIB)
    device, rows, answer = fit(trace)
    assert device["differs_at_seq"] == 6 and rows["none"]["card_bytes"] is None
    assert "is not known" in answer


def test_other_memory_of_the_process_needs_room_on_the_next_smaller_card_too(trace):
    trace.tensor_free(trace.filled_segment(600 * MIB))
    trace.alloc(101 * MIB)
    trace.filled_segment(14470 * MIB)
    _, rows, _ = fit(trace)
    assert rows["allowed"]["card"] == "t4" and rows["allowed"]["fits"] is False


def test_garbage_that_is_collected_on_the_next_smaller_card_is_no_retry(trace):
    trace.rows["allocator_setting"] = [
        ("PYTORCH_CUDA_ALLOC_CONF", "per_process_memory_fraction:0.97,garbage_collection_threshold:0.4")
    ]
    trace.tensor_free(trace.filled_segment(7 * GIB))
    trace.filled_segment(8 * GIB)
    _, rows, answer = fit(trace)
    assert (rows["allowed"]["card"], rows["allowed"]["fits"], rows["allowed"]["retry_count"]) == ("t4", True, 0)
    assert "would run it with 0 retries" in answer


def test_under_a_memory_fraction_the_card_is_as_much_larger(trace):
    trace.rows["allocator_setting"] = [("PYTORCH_CUDA_ALLOC_CONF", "per_process_memory_fraction:0.5")]
    trace.tensor_free(trace.filled_segment(600 * MIB))
    trace.filled_segment(7300 * MIB)
    _, rows, answer = fit(trace)
    assert rows["none"]["card_bytes"] == 15800 * MIB
    assert rows["allowed"]["card"] == "t4" and rows["allowed"]["fits"] is True
    assert "limited to a share of 0.5" in answer


def test_the_next_smaller_card_has_less_for_a_pool_under_a_memory_fraction(trace):
    trace.rows["allocator_setting"] = [("PYTORCH_CUDA_ALLOC_CONF", "per_process_memory_fraction:0.5")]
    trace.tensor_free(trace.filled_segment(200 * MIB))
    trace.filled_segment(7500 * MIB)  # more than half of a T4
    _, rows, _ = fit(trace)
    assert rows["allowed"]["card"] == "t4" and rows["allowed"]["fits"] is False


def test_a_memory_fraction_that_only_a_refusal_told_counts_as_well(trace):
    trace.filled_segment(3 * GIB)
    trace.fail(6 * GIB, "tensor")  # 8 GiB are allowed
    trace.event("pool-limit", size=8 * GIB, address=GIB // 100 + 1, device=0)
    device, rows, answer = fit(trace)
    assert device["at_least"] is True and rows["none"]["card_bytes"] == 18 * GIB
    assert "limited to a share of 0.5" in answer


def test_a_call_that_the_driver_refused_is_part_of_what_a_program_without_a_pool_needs(trace):
    trace.alloc(4 * GIB)
    trace.device_memory(TOTAL - CONTEXT - 4 * GIB, TOTAL, call=1, nested=1)
    trace.fail(14 * GIB, call=1)
    device, rows, answer = fit(trace)
    assert device["at_least"] is True and rows["none"]["card_bytes"] == 18 * GIB + CONTEXT
    assert "at least 18.29 GiB" in answer


def test_a_call_that_is_not_the_pools_and_was_refused_makes_it_at_least(trace):
    trace.filled_segment(700 * MIB)
    trace.fail(15 * GIB + 600 * MIB)
    device, _, answer = fit(trace)
    assert device["at_least"] is True and "needs a card of at least" in answer


def test_what_the_drivers_pool_keeps_is_not_counted_as_the_context(trace):
    block = trace.alloc(3 * GIB, "async", object=0x77)
    trace.pool_usage(0x77, 3 * GIB, 3 * GIB)
    trace.free(block, "async", object=0x77)
    trace.device_memory(TOTAL - CONTEXT - 3 * GIB, TOTAL)
    trace.alloc(GIB)
    device, rows, _ = fit(trace)
    assert device["context_bytes"] == CONTEXT
