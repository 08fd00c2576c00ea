# SPDX-License-Identifier: MIT
"""A trace imported from a snapshot of the real PyTorch has the figures of PyTorch's own counters. If the trace is
exported again, every segment and block is kept."""
import json
import pickle

import pytest

from export import snapshots
from support.run import ROOT, load_json, run_command

SCRIPT = ROOT / "tests/imports/train_and_dump.py"
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
RUNS = {"none": {}, "all": {}, "cut": {}, "oom": {}, "native": {}, "all, expandable": EXPANDABLE}


@pytest.fixture(params=RUNS)
def imported(request, dry_run, torch_build, tmp_path):
    """Returns (key of RUNS, imported trace, PyTorch's snapshot, PyTorch's counters)."""
    if torch_build.name == "oldest" and RUNS[request.param]:
        pytest.skip("PyTorch 2.0 has no expandable segments")
    folder = dry_run(SCRIPT, request.param.split(",")[0], **RUNS[request.param]).trace.parent
    trace = tmp_path / "imported.db"
    completed = run_command("import", "-o", trace, folder / "snapshot.pickle")
    assert (completed.returncode, completed.stderr) == (0, "")
    with open(folder / "snapshot.pickle", "rb") as file:
        return request.param, trace, pickle.load(file), json.loads((folder / "stats.json").read_text())


def told_segments(snapshot):
    """Returns the segments of PyTorch's snapshot, in the form of snapshots.segments."""
    told = {}
    for segment in snapshot["segments"]:
        at, blocks = segment["address"], {}
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                blocks[at] = block["size"]
            at += block["size"]
        told[segment["device"], segment["address"]] = (segment["total_size"], segment["total_size"] - sum(blocks.values()), blocks)
    return told


def test_figures_are_those_of_pytorchs_counters(imported):
    way, trace, snapshot, stats = imported
    (device,) = load_json("report", trace)["devices"]
    (pool,) = device["pools"]
    assert pool["live_at_exit_bytes"] == stats["allocated_bytes.all.current"]
    assert pool["peak_live_bytes"] <= stats["allocated_bytes.all.peak"]
    if way not in ("none", "cut"):
        assert pool["peak_live_bytes"] == stats["allocated_bytes.all.peak"]
        assert pool["peak_reserved_bytes"] == stats["reserved_bytes.all.peak"]
    assert way != "oom" or pool["failed"] == 1
    assert device["driver"]["live_at_exit_bytes"] == sum(size for size, _, _ in told_segments(snapshot).values())


def test_every_segment_and_block_is_kept(imported, tmp_path):
    _, trace, snapshot, _ = imported
    completed = run_command("export", "--to=torch-snapshot", "-o", tmp_path / "again.pickle", trace)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert snapshots.segments(snapshots.load(tmp_path / "again.pickle")) == told_segments(snapshot)


def test_what_was_asked_for_the_pool_and_the_settings_are_kept(imported, tmp_path):
    _, trace, snapshot, _ = imported
    completed = run_command("export", "--to=torch-snapshot", "-o", tmp_path / "again.pickle", trace)
    assert (completed.returncode, completed.stderr) == (0, "")
    again = snapshots.load(tmp_path / "again.pickle")
    kept = {segment["address"]: segment for segment in again["segments"]}
    for segment in snapshot["segments"]:
        live = [block for block in segment["blocks"] if block["state"] == "active_allocated"]
        asked = [block["requested_size"] for block in kept[segment["address"]]["blocks"] if block["state"] == "active_allocated"]
        assert asked == [block.get("requested_size", size) for block, size in zip(live, asked)]
        if live or not segment.get("is_expandable"):
            assert kept[segment["address"]]["segment_type"] == segment["segment_type"]
    told = snapshot.get("allocator_settings", {}).get("PYTORCH_CUDA_ALLOC_CONF")
    assert again["allocator_settings"].get("PYTORCH_CUDA_ALLOC_CONF") == (told or None)


def test_the_lines_of_the_program_hold_what_it_holds(imported):
    way, trace, _, stats = imported
    if way in ("none", "cut"):
        pytest.skip("without a whole history, no line is known")
    sites = load_json("peak", "--layer=pool", "--at=end", trace)["devices"][0]["sites"]
    ours = [site for site in sites if any(frame["file"] and frame["file"].endswith("train_and_dump.py") for frame in site["frames"])]
    parameters = 4 * (512 * 512 + 512) * 4
    assert sum(site["bytes"] for site in ours) >= 3 * parameters  # the parameters and Adam's two states
    kinds = {frame["kind"] for site in ours for frame in site["frames"]}
    assert kinds == ({"native", "python"} if way == "native" and stats["new"] else {"python"})
