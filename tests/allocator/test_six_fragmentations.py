# SPDX-License-Identifier: MIT
"""Tests six kinds of fragmentation. The comment in each test derives the figures, in MiB, and the verdict by hand:

    internal    unused bytes inside blocks: never known, because PyTorch reports a block's rounded size
    external    1 - largest free piece / free bytes
    stranded    free bytes that cannot be given back to the driver, in total and by stream
"""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace

BASE = 0x7F0000000000
STREAM = "stream reserved_bytes free_bytes stranded_bytes".split()
CACHE, LOSS = ("train.py", 12, "main"), ("train.py", 30, "main")


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.device(total_bytes=1024 * MIB)  # less than 5 % of it, 51.2 MiB, is no concern
    return trace


def check(trace, answer, *options, external, streams, **figures):
    """Compares the output of `frag` with figures in MiB; streams: [(stream, reserved, free, stranded)]."""
    document = load_json("frag", trace.write(), *options)
    (device,) = document["devices"]
    found = device["fragmentation"]
    assert {key: found[f"{key}_bytes"] for key in figures} == {key: mib * MIB for key, mib in figures.items()}
    assert found["internal_bytes"] is None
    assert found["external_ratio"] == pytest.approx(external, abs=1e-6)
    assert [tuple(row[key] for key in STREAM) for row in device["streams"]] == [
        (stream, *(mib * MIB for mib in mibs)) for stream, *mibs in streams]  # fmt: skip
    assert answer in " ".join(document["answer"])


def test_pinned_small_blocks_that_stay_keep_two_large_segments(trace):
    # | cache 10 |      90 free      |   reserved 200, live 20, free 180, largest 90: external 1 - 90 / 180 = 1/2.
    # | cache 10 |      90 free      |   Both hold a live block: all 180 are stranded. One stream. train.py:12 pins it.
    for _ in range(2):
        segment = trace.alloc(100 * MIB)
        trace.tensor_free(trace.tensor(segment, 100 * MIB))
        trace.tensor(segment, 10 * MIB, stack=trace.stack(CACHE))
    check(trace, "180.00 MiB of it could not go back to the driver because live blocks lie beside it. Most of it is pinned by "
          "train.py:12 main: 180.00 MiB beside 2 blocks of 20.00 MiB in all.", "--at=end", reserved=200, live=20, free=180,
          largest_free=90, stranded=180, external=1 / 2, streams=[(0, 200, 180, 180)])


def test_cached_whole_segments_lie_idle_and_can_go_back(trace):
    # | live 60                     |   reserved 60 + 100 + 100 = 260, live 60, free 200. A hole ends with its plain segment:
    # | 100 free                    |   largest 100, external 1 - 100 / 200 = 1/2. No live block beside it: stranded 0. Free
    # | 100 free                    |   bytes are cached, not fragmented, and empty_cache() gives them back.
    trace.tensor(trace.alloc(60 * MIB), 60 * MIB)
    for _ in range(2):
        segment = trace.alloc(100 * MIB)
        trace.tensor(segment, 100 * MIB)
        trace.tensor_free(segment)
    check(trace, "it is cached, not fragmented. torch.cuda.empty_cache() gives it back, except memory that a MemPool keeps.", "--at=end", reserved=260, live=60,
          free=200, largest_free=100, stranded=0, external=1 / 2, streams=[(0, 260, 200, 0)])


def test_another_streams_memory_is_free_and_serves_nobody_here(trace):
    # stream 0xA1 | 20 live |    130 free    |   reserved 150 + 80 = 230, live 20 + 80 = 100, free 130 in one piece:
    # stream 0    | 80 live                  |   external 0. All of it is stranded by the 20 of stream 0xA1. Stream 0 could
    #                                            not use the hole.
    segment = trace.alloc(150 * MIB)
    trace.tensor_free(trace.tensor(segment, 150 * MIB, stream=0xA1))
    trace.tensor(segment, 20 * MIB, stream=0xA1, stack=trace.stack(CACHE))
    trace.tensor(trace.alloc(80 * MIB), 80 * MIB, stack=trace.stack(LOSS))
    check(trace, "pinned by train.py:12 main: 130.00 MiB beside 1 block of 20.00 MiB", "--at=end", reserved=230, live=100,
          free=130, largest_free=130, stranded=130, external=0, streams=[(0xA1, 150, 130, 130), (0, 80, 0, 0)])


def test_a_graphs_private_pool_is_held_and_not_idle(trace):
    # graph | 10 |     190 unused     |   reserved 200 + 100 = 300, live 10 + 90 = 100. The graph's pool holds 190 of the
    #       | 90 live | 10 free       |   other 200; they are neither free nor stranded: free 10, external 0, stranded 10.
    #                                     10 MiB are less than 5 % of the card: no concern.
    segment = trace.alloc(200 * MIB)
    trace.event("capture-begin", stream=0xA1)
    trace.tensor_free(trace.tensor(segment, 200 * MIB, stream=0xA1))
    trace.tensor(segment, 10 * MIB, stream=0xA1)
    trace.event("capture-end", object=0x77, stream=0xA1)
    trace.tensor(trace.alloc(100 * MIB), 90 * MIB)
    check(trace, "fragmentation is no concern: 10.00 MiB of the 300.00 MiB", "--at=end", reserved=300, live=100, free=10,
          largest_free=10, stranded=10, graph_idle=190, external=0, streams=[(0xA1, 200, 0, 0), (0, 100, 10, 10)])


def test_a_failure_found_enough_memory_free_and_all_of_it_in_pieces(trace):
    # | 10 | 90 free | three times: reserved 300, live 30, free 270, largest 90: external 1 - 90 / 270 = 2/3, stranded 270.
    # 150 failed: 270 were free, but no 150 in one piece. The verdict is about the failure, although the peak was at another time.
    for _ in range(3):
        segment = trace.alloc(100 * MIB)
        trace.tensor_free(trace.tensor(segment, 100 * MIB))
        trace.tensor(segment, 10 * MIB, stack=trace.stack(CACHE))
    trace.fail(150 * MIB)
    trace.fail(150 * MIB)
    failed = trace.fail(150 * MIB, "tensor")
    check(trace, "270.00 MiB of the 300.00 MiB", f"--at={failed}", reserved=300, live=30, free=270, largest_free=90,
          stranded=270, external=2 / 3, streams=[(0, 300, 270, 270)])
    said = " ".join(load_json("frag", trace.path)["answer"])
    assert "lay idle when 150.00 MiB failed" in said and "train.py:12 main: 270.00 MiB beside 3 blocks" in said


def test_an_expandable_segment_gives_back_the_mappings_that_hold_nothing_live(trace):
    # mappings  |  20   |  20   |  20   |  20   |  20   |  20   |   reserved 120, live 5 + 5 = 10, free 110 in holes of 95 and
    # blocks    |5|               95                |5| 15      |   15: external 1 - 95 / 110 = 15/110. Two mappings with a live
    #                                                               block have 15 stranded each: 30. The other four, 80, can be
    #                                                               given back: cached, not fragmented.
    for i in range(6):
        trace.map(trace.alloc(20 * MIB, "vmm", 0x51 + i), BASE + i * 20 * MIB, 20 * MIB)
    trace.tensor_free(trace.tensor(BASE, 120 * MIB))
    trace.tensor(BASE, 5 * MIB)
    trace.tensor(BASE + 100 * MIB, 5 * MIB)
    check(trace, "cached, not fragmented", "--at=end", reserved=120, live=10, free=110, largest_free=95, stranded=30,
          external=15 / 110, streams=[(0, 120, 110, 30)])
