# SPDX-License-Identifier: MIT
"""The replay of a trace equals the figures of PyTorch's allocator, byte for byte and block by block."""
import json

import pytest

from support.run import load_json

# With --samples=SAMPLES, `frag` has one row per event if the trace has at most this many events.
SAMPLES = 20000


class Replay:
    """Gives the analyzer's figures and segments of a trace at any event."""

    def __init__(self, trace):
        self.trace = trace
        answer = load_json("frag", trace, "--layer=pool", f"--samples={SAMPLES}")
        assert answer["trace"]["events"] <= SAMPLES
        self.rows = {device["device"]: device["over_time"] for device in answer["devices"]
                     if "over_time" in device}
        self.failures = load_json("oom", trace)["oom"]

    def figures(self, device, seq):
        """Returns the live and reserved bytes right after event `seq`, and their peaks and the number of failures up to
        this event."""
        rows = [row for row in self.rows.get(device, []) if row["seq"] <= seq]
        assert not rows or rows[-1]["seq"] == seq
        live = [row["live_bytes"] for row in rows] or [0]
        reserved = [row["reserved_bytes"] or 0 for row in rows] or [0]
        failed = [oom for oom in self.failures
                  if oom["layer"] == "pool" and oom["device"] == device and oom["seq"] <= seq]
        return {"allocated": live[-1], "reserved": reserved[-1], "max_allocated": max(live),
                "max_reserved": max(reserved), "ooms": len(failed)}

    def segments(self, seq):
        """Returns {(device, address): (size, free, {address of a block: size})} right after event `seq`."""
        devices = load_json("frag", self.trace, "--layer=pool", "--segments", f"--at={seq}", "--samples=1")["devices"]
        return {
            (device["device"], segment["address"]): (
                segment["size_bytes"], segment["free_bytes"],
                {block["address"]: block["size_bytes"] for block in segment["blocks"]},
            )
            for device in devices for segment in device["segments"] or []
        }


def told_segments(moment):
    """Returns the segments of PyTorch's own snapshot, in the form of Replay.segments."""
    told = {}
    for segment in moment["segments"]:
        blocks = {b["address"]: b["size"] for b in segment["blocks"] if b["state"] == "active_allocated"}
        told[segment["device"], segment["address"]] = (segment["size"], segment["size"] - sum(blocks.values()), blocks)
    return told


def states(moment):
    return {block["state"] for segment in moment["segments"] for block in segment["blocks"]}


def compare(recording, waiting=False):
    """Asserts that the replay equals PyTorch's figures and blocks at every mark; returns the Replay. `waiting`: some blocks
    wait for another stream; the replay counts them as free."""
    marks = recording.marked_moments()
    assert len(marks) >= 20
    replay = Replay(recording.trace)
    for seq, moment in marks:
        for device, told in enumerate(moment["devices"]):
            assert (moment["note"], replay.figures(device, seq)) == (moment["note"], told)
        assert (moment["note"], replay.segments(seq)) == (moment["note"], told_segments(moment))
    others = set().union(*(states(moment) for _, moment in marks)) - {"active_allocated", "inactive"}
    assert others == ({"active_pending_free"} if waiting else set())
    return replay


RUNS = {
    **{f"mlp {name}": ("mlp.py", name) for name in ("sgd", "momentum", "adam", "adam-foreach", "adam-fused")},
    "cnn": ("cnn.py",),
    "gpt": ("gpt.py",),
    "gpt with checkpointing": ("gpt.py", "--checkpoint"),
    "inference": ("inference.py",),
    "lstm": ("lstm.py",),
    "out of memory, tried again": ("oom_retry.py",),
    "fragmented": ("fragmented.py",),
    "leak": ("leak.py",),
    "empty_cache": ("empty_cache.py",),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_replay_equals_pytorchs_own_figures(name, dry_run):
    compare(dry_run(*RUNS[name]))


def test_the_replay_of_two_devices_equals_pytorchs_own_figures(dry_run):
    replay = compare(dry_run("two_devices.py"))
    assert set(replay.rows) == {0, 1}


def test_a_block_that_another_stream_still_uses_is_free_from_when_it_is_given_back(dry_run):
    compare(dry_run("streams.py"), waiting=True)


# The same scripts run with expandable segments. One optimizer of the MLP is enough here.
EXPANDABLE = [name for name in RUNS if not name.startswith("mlp ")] + ["mlp adam-foreach"]


@pytest.mark.parametrize("name", EXPANDABLE)
def test_the_replay_of_expandable_segments_equals_pytorchs_own_figures(name, dry_run):
    compare(dry_run(*RUNS[name], PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"))


@pytest.mark.parametrize("scope", ["RTLD_LOCAL", "RTLD_GLOBAL"])
def test_pytorchs_own_profiler_is_told_of_each_tensor_wherever_c10_is_loaded(scope, dry_run):
    """By default, Python opens torch's extension with RTLD_LOCAL, and this also loads c10."""
    settings = {"TORCH_USE_RTLD_GLOBAL": 1} if scope == "RTLD_GLOBAL" else {}
    recording = dry_run("profiled.py", **settings)
    said = json.loads(recording.completed.stdout.splitlines()[-1])
    assert said["c10_is_global"] == (scope == "RTLD_GLOBAL")
    assert said["told"] == [size for taken in said["sizes"] for size in (taken, -taken)]
    recorded = recording.rows("SELECT size_bytes FROM allocations WHERE memory = 'tensor' ORDER BY seq")
    assert [size for size, in recorded[-len(said["sizes"]):]] == said["sizes"]


WITHOUT_SEGMENTS = {
    "backend:cudaMallocAsync": {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"},
    "no caching": {"PYTORCH_NO_CUDA_MEMORY_CACHING": 1},
}


@pytest.mark.parametrize("allocator", WITHOUT_SEGMENTS)
def test_without_segments_each_tensor_is_an_allocation_of_the_driver(allocator, dry_run):
    recording = dry_run("plain_tensors.py", **WITHOUT_SEGMENTS[allocator])
    (device,) = load_json("frag", recording.trace, f"--samples={SAMPLES}")["devices"]
    assert device["leading_layer"] == "driver"
    live = {row["seq"]: row["live_bytes"] for row in device["over_time"]}
    marks = recording.marked_moments()
    assert len(marks) >= 20
    for seq, moment in marks:
        assert live[seq] == moment["bytes"]


def test_the_failure_that_was_fragmentation_is_called_so_with_pytorchs_own_numbers(dry_run):
    recording = dry_run("fragmented.py")
    filled, fragmented, exhausted = [oom for oom in load_json("oom", recording.trace)["oom"] if oom["layer"] == "pool"]
    assert [oom["verdict"] for oom in (filled, fragmented, exhausted)] == ["exhausted", "fragmented", "exhausted"]
    told = json.loads(recording.completed.stdout)
    assert {key: fragmented[key] for key in told} == told
    assert told["idle_bytes"] > told["asked_bytes"] > told["largest_hole_bytes"]


def test_the_failure_of_a_batch_that_does_not_fit_is_called_exhaustion(dry_run):
    first = next(oom for oom in load_json("oom", dry_run("oom_retry.py").trace)["oom"] if oom["layer"] == "pool")
    assert first["verdict"] == "exhausted"
    assert first["asked_bytes"] == 16 << 30
