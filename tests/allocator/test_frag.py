# SPDX-License-Identifier: MIT
"""Fragmentation: reserved, live, free, largest hole and stranded bytes, in pools and in the driver."""
import pytest

from support.run import load_json
from support.tracefile import MIB

BASE = 0x7F0000000000


def frag(trace, *options):
    return load_json("frag", trace.written(), *options)["devices"][0]["fragmentation"]


def figures(fragmentation):
    keys = "reserved live free largest_free stranded".split()
    return tuple(fragmentation[f"{key}_bytes"] for key in keys)


def test_the_holes_of_a_pools_segments_are_its_free_bytes(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment + 2 * MIB, 4 * MIB)  # a hole of 2 before it
    trace.tensor(segment + 9 * MIB, 1 * MIB)  # holes of 3 and 10
    result = frag(trace)
    assert (result["layer"], result["pool"], result["at"]) == ("pool", "pytorch", "peak")
    assert figures(result) == (20 * MIB, 5 * MIB, 15 * MIB, 10 * MIB, 15 * MIB)
    assert result["external_ratio"] == pytest.approx(1 / 3, abs=1e-6)
    assert result["internal_bytes"] is None
    assert result["estimated"] is False


def test_an_empty_segment_is_free_but_not_stranded(trace):
    first, second = trace.alloc(20 * MIB), trace.alloc(20 * MIB)
    trace.tensor(first, 20 * MIB)
    trace.tensor_free(trace.tensor(second, MIB))
    assert figures(frag(trace, "--at=end")) == (40 * MIB, 20 * MIB, 20 * MIB, 20 * MIB, 0)


def test_a_hole_ends_where_a_plain_segment_ends(trace):
    first = trace.alloc(20 * MIB, address=BASE)
    second = trace.alloc(20 * MIB, address=BASE + 20 * MIB)
    trace.tensor(first, 10 * MIB)
    trace.tensor(second + 15 * MIB, 5 * MIB)
    assert figures(frag(trace)) == (40 * MIB, 15 * MIB, 25 * MIB, 15 * MIB, 25 * MIB)


def test_a_hole_goes_on_from_one_mapping_of_an_expandable_segment_into_the_next(trace):
    for i in range(3):
        handle = trace.alloc(20 * MIB, "vmm", 0x51 + i)
        trace.event("map", "vmm", BASE + i * 20 * MIB, 20 * MIB, object=handle)
    trace.tensor(BASE, 60 * MIB)
    trace.tensor_free(BASE)
    trace.tensor(BASE, 15 * MIB)
    result = frag(trace, "--at=end")
    assert figures(result) == (60 * MIB, 15 * MIB, 45 * MIB, 45 * MIB, 5 * MIB)
    assert result["external_ratio"] == 0


def test_nothing_free_is_no_fragmentation(trace):
    segment = trace.alloc(2 * MIB)
    trace.tensor(segment, 2 * MIB)
    result = frag(trace)
    assert figures(result) == (2 * MIB, 2 * MIB, 0, 0, 0)
    assert result["external_ratio"] == 0


def test_reserved_is_unknown_when_tensors_lie_outside_any_known_segment(trace):
    trace.tensor(0x1000, MIB)
    result = frag(trace)
    assert result["live_bytes"] == MIB
    assert figures(result) == (None, MIB, None, None, None)
    assert result["external_ratio"] is None


def test_the_driver_reserves_the_distinct_granules_under_plain_memory(trace):
    trace.alloc(MIB, address=BASE)
    trace.alloc(MIB // 2, address=BASE + MIB)  # in the same granule, of which 0.5 MiB is left
    trace.alloc(3 * MIB, address=BASE + 10 * MIB)  # in two granules, of which 1 MiB is left
    result = frag(trace)
    assert (result["layer"], result["estimated"]) == ("driver", True)
    assert figures(result) == (6 * MIB, 4.5 * MIB, 1.5 * MIB, MIB, 1.5 * MIB)
    assert result["external_ratio"] == pytest.approx(1 / 3, abs=1e-6)


def test_a_hole_of_the_driver_goes_on_into_the_next_reserved_granule(trace):
    trace.alloc(MIB, address=BASE)
    trace.alloc(MIB, address=BASE + 3 * MIB)
    assert figures(frag(trace)) == (4 * MIB, 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB)


def test_vmm_objects_and_arrays_are_reserved_to_the_byte(trace):
    trace.alloc(4 * MIB, "vmm", 0x51)
    trace.alloc(1000, "array", 0x52)
    assert figures(frag(trace)) == (4 * MIB + 1000, 4 * MIB + 1000, 0, 0, 0)


def test_managed_host_and_imported_memory_is_not_the_drivers(trace):
    for memory in ("managed", "pinned", "imported"):
        trace.alloc(8 * MIB, memory)
    trace.alloc(2 * MIB)
    assert figures(frag(trace)) == (2 * MIB, 2 * MIB, 0, 0, 0)


def test_what_a_stream_ordered_pool_retains_is_free(trace):
    trace.alloc(4 * MIB, "async", object=0xF00)
    trace.pool_usage(0xF00, 4 * MIB, 32 * MIB)
    assert figures(frag(trace, "--at=end")) == (32 * MIB, 4 * MIB, 28 * MIB, 28 * MIB, 0)


def test_a_pool_whose_attribute_was_set_first_is_of_the_device_of_its_first_block(trace):
    trace.pool_usage(0xF00, 0, 0, device=None)  # cuMemPoolSetAttribute
    trace.alloc(4 * MIB, "async", object=0xF00)
    trace.pool_usage(0xF00, 4 * MIB, 32 * MIB)
    assert figures(frag(trace, "--at=end")) == (32 * MIB, 4 * MIB, 28 * MIB, 28 * MIB, 0)


def test_a_pool_of_another_device_is_reserved_there(trace):
    trace.alloc(MIB, "async", object=0xF00)
    trace.pool_usage(0xBA2, 0, 64 * MIB, device=1)
    assert figures(frag(trace, "--at=end", "--device=0")) == (MIB, MIB, 0, 0, 0)
    assert figures(frag(trace, "--at=end", "--device=1")) == (64 * MIB, 0, 64 * MIB, 64 * MIB, 0)


def test_a_pool_of_an_unknown_device_reserved_before_anything_was_live_there(trace):
    trace.pool_usage(0xF00, 0, 64 * MIB, device=None)
    trace.pool_usage(0xF00, 0, 32 * MIB, device=None)
    trace.alloc(MIB, "async", device=None, object=0xF00)
    (device,) = load_json("frag", trace.write(), "--samples=3")["devices"]
    assert [row["reserved_bytes"] for row in device["over_time"]] == [64 * MIB, 32 * MIB, 32 * MIB]


def test_stream_ordered_memory_of_a_silent_pool_is_reserved_as_handed_out(trace):
    trace.alloc(4 * MIB, "async")
    assert figures(frag(trace)) == (4 * MIB, 4 * MIB, 0, 0, 0)


def test_what_the_card_has_left_comes_from_the_last_answer_of_its_own(trace):
    trace.device_memory(111, 1000, device=1)
    trace.alloc(MIB)
    assert frag(trace, "--device=0")["device_free_bytes"] is None
    trace.path.unlink()
    trace.device_memory(222, 1000)
    trace.device_memory(333, 1000)
    trace.device_memory(444, 1000)
    result = frag(trace, "--device=0", "--at=4")
    assert (result["device_free_bytes"], result["device_free_source"]) == (333, "cuMemGetInfo")


def test_what_the_card_has_left_follows_what_the_process_took_since_its_last_answer(trace):
    trace.device_memory(100 * MIB, 128 * MIB)
    trace.alloc(6 * MIB)
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 20 * MIB)  # the peak: 100 - 6 - 20 are free
    trace.tensor_free(segment)
    trace.free(segment)
    trace.device_memory(90 * MIB, 128 * MIB)
    result = frag(trace)
    assert result["device_free_bytes"] == 74 * MIB
    assert result["device_free_source"] == "cuMemGetInfo and the calls since"


def test_what_the_card_has_left_counts_what_was_given_back_since_its_last_answer(trace):
    first = trace.alloc(32 * MIB)
    trace.device_memory(60 * MIB, 128 * MIB)
    trace.free(first)
    segment = trace.alloc(2 * MIB)
    trace.tensor(segment, MIB)
    assert frag(trace)["device_free_bytes"] == 90 * MIB


def test_frag_lists_every_failure_and_moments_over_time(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 4 * MIB)
    trace.fail(64 * MIB)
    trace.tensor(segment + 10 * MIB, 2 * MIB)
    (device,) = load_json("frag", trace.write(), "--samples=4")["devices"]
    (failure,) = device["at_failures"]
    assert (failure["seq"], failure["live_bytes"], failure["largest_free_bytes"]) == (3, 4 * MIB, 16 * MIB)
    assert [row["seq"] for row in device["over_time"]] == [1, 2, 3, 4]
    assert [row["live_bytes"] for row in device["over_time"]] == [0, 4 * MIB, 4 * MIB, 6 * MIB]


# --- pinned memory --------------------------------------------------------------------------------


def device_of(trace, *options):
    return load_json("frag", trace.written(), *options)["devices"][0]


def rows(listed, *keys):
    return [tuple(row[key] for key in keys) for row in listed]


def test_blocks_pin_the_free_memory_of_their_segments(trace):
    alone, shared = trace.alloc(20 * MIB), trace.alloc(20 * MIB)
    cache, loss = (trace.stack(("train.py", line, "main")) for line in (12, 30))
    trace.tensor(alone, 2 * MIB, stack=cache)  # 18 MiB are free beside this tensor
    trace.tensor(shared, 4 * MIB, stack=cache)  # 20 - 4 - 6 = 10 MiB are free beside both tensors
    trace.tensor(shared + 10 * MIB, 6 * MIB, stack=loss)
    full = trace.alloc(2 * MIB)
    trace.tensor(full, 2 * MIB, stack=loss)  # pins no free memory
    pinned = device_of(trace)["pinned_by"]
    keys = "alone_bytes pinned_bytes segments blocks bytes".split()
    assert rows(pinned, *keys) == [(18 * MIB, 28 * MIB, 2, 2, 6 * MIB), (0, 10 * MIB, 1, 1, 6 * MIB)]
    assert [row["frames"][0]["line"] for row in pinned] == [12, 30]


def test_a_mapping_that_is_wholly_free_is_pinned_by_nobody(trace):
    for i in range(3):
        trace.map(trace.alloc(20 * MIB, "vmm", 0x51 + i), BASE + i * 20 * MIB, 20 * MIB)
    trace.tensor_free(trace.tensor(BASE, 60 * MIB))
    trace.tensor(BASE, 15 * MIB)  # 5 MiB of the first mapping are free; the other mappings could be given back
    (row,) = device_of(trace, "--at=end")["pinned_by"]
    assert (row["alone_bytes"], row["pinned_bytes"], row["segments"]) == (5 * MIB, 5 * MIB, 1)


def test_segments_are_summed_by_the_stream_of_their_pieces(trace):
    first, second, third = (trace.alloc(20 * MIB) for _ in range(3))
    trace.tensor(first, 4 * MIB)
    trace.tensor_free(trace.tensor(second, 20 * MIB))
    trace.tensor(third, 15 * MIB, stream=0xA1)
    keys = "stream segments reserved_bytes live_bytes free_bytes largest_free_bytes stranded_bytes".split()
    assert rows(device_of(trace, "--at=end")["streams"], *keys) == [
        (0, 2, 40 * MIB, 4 * MIB, 36 * MIB, 20 * MIB, 16 * MIB),
        (0xA1, 1, 20 * MIB, 15 * MIB, 5 * MIB, 5 * MIB, 5 * MIB),
    ]


def test_a_stream_that_was_not_recorded_is_null(trace):
    trace.tensor(trace.alloc(2 * MIB), MIB, stream=None)
    assert rows(device_of(trace)["streams"], "stream", "segments") == [(None, 1)]


def test_what_a_graph_holds_is_neither_free_nor_stranded_nor_pinned(trace):
    own, graphs = trace.alloc(20 * MIB), trace.alloc(20 * MIB)
    trace.tensor(own, 8 * MIB)
    trace.event("capture-begin", stream=0xA1)
    trace.tensor(graphs, 5 * MIB, stream=0xA1)
    trace.event("capture-end", object=0x77, stream=0xA1)
    device = device_of(trace, "--at=end")
    result = device["fragmentation"]
    assert figures(result) == (40 * MIB, 13 * MIB, 12 * MIB, 12 * MIB, 12 * MIB)
    assert result["graph_idle_bytes"] == 15 * MIB
    assert rows(device["pinned_by"], "pinned_bytes", "blocks") == [(12 * MIB, 1)]


def answer(trace, *options):
    return " ".join(load_json("frag", trace.write(), *options)["answer"])


def test_four_idle_mib_raise_no_alarm_whatever_their_share(trace):
    trace.device(total_bytes=1024 * MIB)
    segment = trace.alloc(4 * MIB)
    trace.tensor(segment, 512)
    said = answer(trace)
    assert "no concern" in said and "Less than 5 % of the card" in said


def test_without_the_cards_size_idle_memory_is_weighed_against_what_is_reserved(trace):
    segment = trace.alloc(200 * MIB)
    trace.tensor(segment, 191 * MIB)
    assert "Less than 5 % of what was reserved" in answer(trace)


def test_the_answer_names_the_line_that_pins_most(trace):
    first, second = trace.alloc(100 * MIB), trace.alloc(100 * MIB)
    trace.tensor(first, 10 * MIB, stack=trace.stack(("train.py", 12, "main")))
    trace.tensor(second, 90 * MIB, stack=trace.stack(("train.py", 30, "main")))
    said = answer(trace)
    assert "100.00 MiB of the 200.00 MiB" in said and "train.py:12" in said and "train.py:30" not in said


def test_whole_segments_that_lie_idle_are_cached_and_not_fragmented(trace):
    first, second = trace.alloc(100 * MIB), trace.alloc(100 * MIB)
    trace.tensor(first, 100 * MIB)
    trace.tensor_free(trace.tensor(second, 50 * MIB))
    said = answer(trace, "--at=end")
    assert "cached, not fragmented" in said and "torch.cuda.empty_cache()" in said


def test_the_answer_speaks_of_the_failure_that_memory_in_pieces_caused(trace):
    first, second = trace.alloc(100 * MIB), trace.alloc(100 * MIB)
    big = trace.tensor(first, 100 * MIB)
    other = trace.tensor(second, 100 * MIB)
    trace.tensor_free(big)
    trace.tensor(first, 10 * MIB, stack=trace.stack(("train.py", 12, "main")))
    trace.tensor_free(other)
    trace.tensor(second, 10 * MIB, stack=trace.stack(("train.py", 12, "main")))
    trace.fail(150 * MIB, "tensor")
    said = answer(trace)
    assert "180.00 MiB of the 200.00 MiB" in said and "when 150.00 MiB failed" in said and "train.py:12" in said


# --- segment by segment ---------------------------------------------------------------------------


def segments(trace, *options):
    return load_json("frag", trace.written(), "--segments", *options)["devices"][0]["segments"]


def test_segments_hold_the_blocks_that_were_live_at_the_moment(trace):
    first = trace.alloc(20 * MIB, address=BASE)
    trace.alloc(2 * MIB, address=BASE + 20 * MIB)
    trace.tensor(first + 2 * MIB, 4 * MIB)
    trace.tensor(BASE + 20 * MIB, MIB)
    trace.tensor_free(trace.tensor(first + 10 * MIB, 6 * MIB))
    rows = segments(trace, "--at=5")
    assert rows == [
        {"address": BASE, "size_bytes": 20 * MIB, "live_bytes": 10 * MIB, "free_bytes": 10 * MIB,
         "largest_free_bytes": 4 * MIB, "mapped": False, "of_graph": False,
         "blocks": [{"address": BASE + 2 * MIB, "size_bytes": 4 * MIB, "forward_stack_id": None},
                    {"address": BASE + 10 * MIB, "size_bytes": 6 * MIB, "forward_stack_id": None}]},
        {"address": BASE + 20 * MIB, "size_bytes": 2 * MIB, "live_bytes": MIB, "free_bytes": MIB,
         "largest_free_bytes": MIB, "mapped": False, "of_graph": False,
         "blocks": [{"address": BASE + 20 * MIB, "size_bytes": MIB, "forward_stack_id": None}]},
    ]
    assert [len(row["blocks"]) for row in segments(trace, "--at=end")] == [1, 1]


def test_a_segment_ends_when_the_driver_gets_it_back(trace):
    first = trace.alloc(20 * MIB)
    trace.tensor_free(trace.tensor(first, 20 * MIB))
    trace.free(first)
    assert segments(trace, "--at=end") == []


def test_mappings_in_a_row_are_one_segment(trace):
    for i in range(3):
        handle = trace.alloc(2 * MIB, "vmm", 100 + i)
        trace.event("map", "vmm", BASE + i * 2 * MIB + (i == 2) * 2 * MIB, 2 * MIB, handle)
    trace.tensor(BASE + MIB, 3 * MIB)
    trace.tensor(BASE + 6 * MIB, MIB)
    assert [(row["address"], row["size_bytes"], row["mapped"]) for row in segments(trace, "--at=end")] == [
        (BASE, 4 * MIB, True), (BASE + 6 * MIB, 2 * MIB, True)]


def test_the_drivers_memory_has_no_segments(trace):
    trace.alloc(20 * MIB)
    assert segments(trace) is None
