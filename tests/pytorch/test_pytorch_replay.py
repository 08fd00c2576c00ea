# SPDX-License-Identifier: MIT
"""Our replay of the trace is what PyTorch's allocator says of itself, byte for byte and block by block."""
import pytest

from conftest import load_json
from pytorchbuilds import dry_run, torch_build  # noqa: F401 (fixtures)

# Every event has its row in `frag`'s list over time where there are no more events than this.
SAMPLES = 10000


class Replay:
    """What the analyzer says of a trace at any event."""

    def __init__(self, trace):
        self.trace = trace
        answer = load_json("frag", trace, "--layer=pool", f"--samples={SAMPLES}")
        assert answer["trace"]["events"] <= SAMPLES
        self.rows = {device["device"]: device["over_time"] for device in answer["devices"]
                     if "over_time" in device}
        self.failures = load_json("oom", trace)["oom"]

    def figures(self, device, seq):
        """Live and reserved bytes right after an event, their peaks and the failures until then."""
        rows = [row for row in self.rows.get(device, []) if row["seq"] <= seq]
        assert not rows or rows[-1]["seq"] == seq
        live = [row["live_bytes"] for row in rows] or [0]
        reserved = [row["reserved_bytes"] or 0 for row in rows] or [0]
        failed = [oom for oom in self.failures
                  if oom["layer"] == "pool" and oom["device"] == device and oom["seq"] <= seq]
        return {"allocated": live[-1], "reserved": reserved[-1], "max_allocated": max(live),
                "max_reserved": max(reserved), "ooms": len(failed)}

    def segments(self, seq):
        """{(device, address): (size, free, {address of a block: size})}"""
        devices = load_json("frag", self.trace, "--layer=pool", "--segments", f"--at={seq}", "--samples=1")["devices"]
        return {
            (device["device"], segment["address"]): (
                segment["size_bytes"], segment["free_bytes"],
                {block["address"]: block["size_bytes"] for block in segment["blocks"]},
            )
            for device in devices for segment in device["segments"] or []
        }


def told_segments(moment):
    """The same of PyTorch's own snapshot."""
    told = {}
    for segment in moment["segments"]:
        blocks = {b["address"]: b["size"] for b in segment["blocks"] if b["state"] == "active_allocated"}
        told[segment["device"], segment["address"]] = (segment["size"], segment["size"] - sum(blocks.values()), blocks)
    return told


def compare(recording):
    marks = recording.marked_moments()
    assert len(marks) >= 20
    replay = Replay(recording.trace)
    for seq, moment in marks:
        for device, told in enumerate(moment["devices"]):
            assert (moment["note"], replay.figures(device, seq)) == (moment["note"], told)
        assert (moment["note"], replay.segments(seq)) == (moment["note"], told_segments(moment))
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


@pytest.mark.parametrize("name", ["mlp adam-foreach", "gpt", "fragmented", "empty_cache"])
def test_the_replay_of_expandable_segments_equals_pytorchs_own_figures(name, dry_run):
    compare(dry_run(*RUNS[name], PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"))


CUBLAS_BYTES = 8519680  # what one handle of cuBLAS takes for itself


def test_with_the_drivers_own_pools_each_tensor_is_an_allocation_of_the_driver(dry_run):
    recording = dry_run("mlp.py", "sgd",
                        PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync")
    answer = load_json("frag", recording.trace, f"--samples={SAMPLES}")["devices"][0]
    live = {row["seq"]: row["live_bytes"] for row in answer["over_time"]}
    assert answer["leading_layer"] == "driver"
    for seq, moment in recording.marked_moments():
        # PyTorch's figure is what was asked for or, in newer versions, what the driver rounds it to.
        others = live[seq] - moment["devices"][0]["allocated"]
        assert -others % CUBLAS_BYTES < 32 << 10, moment["note"]


def test_without_caching_each_tensor_is_an_allocation_of_the_driver(dry_run):
    device = dry_run("mlp.py", "sgd", PYTORCH_NO_CUDA_MEMORY_CACHING=1).report()["devices"][0]
    assert device["leading_layer"] == "driver"
    assert device["pools"] == []
    assert device["driver"]["allocations"] > 100


def test_the_failure_that_was_fragmentation_is_called_so_with_its_numbers(dry_run):
    failures = [oom for oom in dry_run("fragmented.py").report()["oom"] if oom["layer"] == "pool"]
    filled, fragmented, exhausted = failures
    assert fragmented["verdict"] == "fragmented"
    assert fragmented["asked_bytes"] == 200 << 20
    assert fragmented["idle_bytes"] >= 200 << 20 > fragmented["largest_hole_bytes"]
    assert fragmented["device_free_bytes"] < 200 << 20
    assert [filled["verdict"], exhausted["verdict"]] == ["exhausted", "exhausted"]


def test_the_failure_of_a_batch_that_does_not_fit_is_called_exhaustion(dry_run):
    first = next(oom for oom in dry_run("oom_retry.py").report()["oom"] if oom["layer"] == "pool")
    assert first["verdict"] == "exhausted"
    assert first["asked_bytes"] == 16 << 30
