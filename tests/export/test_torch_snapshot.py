# SPDX-License-Identifier: MIT
"""Tests the export as PyTorch's memory snapshot: the segments, and the events that led to these segments."""
import pytest

from export import snapshots
from support.run import load_json
from support.tracefile import MIB, Trace


@pytest.mark.parametrize("at", ["end", "peak", "phase:forward", "oom:1", "2"])
def test_segments_and_blocks_are_those_of_frag(made_trace, export, at):
    found = snapshots.segments(snapshots.load(export("torch-snapshot", made_trace, "--device=0", f"--at={at}")))
    (device,) = load_json("frag", made_trace, "--segments", "--device=0", f"--at={at}", "--samples=1")["devices"]
    assert found == {
        (0, segment["address"]): (segment["size_bytes"], segment["free_bytes"], {b["address"]: b["size_bytes"] for b in segment["blocks"]})
        for segment in device["segments"]
    }


@pytest.mark.parametrize("at", ["end", "peak", "5"])
def test_the_events_of_each_device_lead_to_its_segments(made_trace, export, at):
    snapshot = snapshots.load(export("torch-snapshot", made_trace, f"--at={at}"))
    found = snapshots.segments(snapshot)
    assert len(snapshot["device_traces"]) == 2
    for number, events in enumerate(snapshot["device_traces"]):
        followed = snapshots.Followed(events)
        assert followed.pieces == {address: size for (device, address), (size, _, _) in found.items() if device == number}
        assert followed.blocks == {a: size for (device, _), (_, _, blocks) in found.items() if device == number for a, size in blocks.items()}
    (peak, *_) = load_json("peak", made_trace, "--device=0")["devices"][0]["moments"]
    assert at == "5" or snapshots.Followed(snapshot["device_traces"][0]).most_live == peak["live_bytes"] == 90 * MIB


def test_a_failure_says_what_the_card_had_left(tmp_path, export):
    trace = Trace(tmp_path / "oom.db")
    trace.filled_segment(10 * MIB)
    trace.device_memory(free=3 * MIB, total=16 * MIB)
    trace.fail(8 * MIB)
    trace.write()
    snapshot = snapshots.load(export("torch-snapshot", trace.path))
    assert snapshots.Followed(snapshot["device_traces"][0]).failures == [(8 * MIB, 3 * MIB)]


def test_an_expandable_segment_is_mapped_and_unmapped_in_pieces(tmp_path, export):
    trace = Trace(tmp_path / "expandable.db")
    for number in range(3):
        trace.alloc(20 * MIB, "vmm", address=0x100 + number)
        trace.map(0x100 + number, 0x7E0000000000 + number * 20 * MIB, 20 * MIB, device=0)
    trace.tensor(0x7E0000000000, 30 * MIB)
    trace.tensor(0x7E0000000000 + 40 * MIB, 5 * MIB)
    trace.tensor_free(0x7E0000000000 + 40 * MIB, device=0)
    trace.unmap(0x7E0000000000 + 40 * MIB, 20 * MIB, device=0)
    trace.write()
    snapshot = snapshots.load(export("torch-snapshot", trace.path))
    (segment,) = snapshot["segments"]
    assert (segment["total_size"], segment["is_expandable"]) == (40 * MIB, True)
    followed = snapshots.Followed(snapshot["device_traces"][0])
    assert sum(followed.pieces.values()) == 40 * MIB
    assert [event["action"] for event in snapshot["device_traces"][0] if "map" in event["action"]] == ["segment_map"] * 3 + ["segment_unmap"]


def test_a_program_without_a_framework_has_a_segment_for_each_of_its_blocks(tmp_path, export):
    trace = Trace(tmp_path / "plain.db")
    first = trace.alloc(3 * MIB, stack=trace.stack(("main.cu", 9, "main")))
    trace.alloc(5 * MIB)
    trace.free(first, device=0)
    trace.write()
    snapshot = snapshots.load(export("torch-snapshot", trace.path, "--at=peak"))
    assert sorted(size for size, _, _ in snapshots.segments(snapshot).values()) == [3 * MIB, 5 * MIB]
    (block,) = snapshot["segments"][0]["blocks"]
    assert block["frames"] == [{"name": "main", "filename": "main.cu", "line": 9}]
    actions = [e["action"] for e in snapshots.load(export("torch-snapshot", trace.path))["device_traces"][0]]
    assert actions == ["segment_alloc", "alloc"] * 2 + ["free_requested", "free_completed", "segment_free"]


def test_names_are_clean_in_frames(made_trace, export):
    snapshot = snapshots.load(export("torch-snapshot", made_trace))
    names = {frame["name"] for events in snapshot["device_traces"] for event in events for frame in event["frames"]}
    assert {"?[31mred", "=1+1", "a;b 7", "x?y"} <= names and not [name for name in names if "\x1b" in name]
