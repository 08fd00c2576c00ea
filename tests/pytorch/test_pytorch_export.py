# SPDX-License-Identifier: MIT
"""If a dry run is exported as PyTorch's memory snapshot, the snapshot has the segments that PyTorch itself reported at
that moment."""
import subprocess

import pytest

from export import snapshots
from support.run import TIMEOUT_S, load_json, run_command

RUNS = {"gpt": ("gpt.py",), "gpt in expandable segments": ("gpt.py",), "resnet": ("resnet.py",)}
SETTINGS = {"gpt in expandable segments": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}


def exported(recording, *options):
    path = recording.trace.parent / "snapshot.pickle"
    completed = run_command("export", "--to=torch-snapshot", "-o", path, recording.trace, *options)
    assert (completed.returncode, completed.stderr) == (0, "")
    return path


def told_segments(moment):
    """Returns PyTorch's segments at `moment`, in the form of snapshots.segments."""
    told = {}
    for segment in moment["segments"]:
        blocks = {b["address"]: b["size"] for b in segment["blocks"] if b["state"] == "active_allocated"}
        told[segment["device"], segment["address"]] = (segment["size"], segment["size"] - sum(blocks.values()), blocks)
    return told


@pytest.mark.parametrize("name", RUNS)
def test_segments_and_blocks_are_pytorchs_own(dry_run, name):
    recording = dry_run(*RUNS[name], **SETTINGS.get(name, {}))
    marks = recording.marked_moments()
    assert len(marks) >= 5
    for seq, moment in marks[:: len(marks) // 5]:
        snapshot = snapshots.load(exported(recording, f"--at={seq}"))
        assert snapshots.segments(snapshot) == told_segments(moment)
        assert {segment["is_expandable"] for segment in snapshot["segments"]} <= {"expandable" in name}


@pytest.mark.parametrize("name", RUNS)
def test_the_events_reach_pytorchs_peak_and_end_at_the_segments(dry_run, name):
    recording = dry_run(*RUNS[name], **SETTINGS.get(name, {}))
    snapshot = snapshots.load(exported(recording))
    followed = snapshots.Followed(snapshot["device_traces"][0])
    (pool,) = recording.report()["devices"][0]["pools"]
    assert followed.most_live == pool["peak_live_bytes"]
    found = snapshots.segments(snapshot)
    assert sum(followed.pieces.values()) == sum(size for size, _, _ in found.values())
    assert followed.blocks == {address: size for _, _, blocks in found.values() for address, size in blocks.items()}


def test_memory_viz_of_that_pytorch_opens_it(dry_run, torch_build):
    recording = dry_run("gpt.py")
    path = exported(recording, "--at=peak")
    (moment,) = load_json("peak", recording.trace, "--layer=pool")["devices"][0]["moments"]
    # The packages of a wheel are a link, which "**" alone does not follow.
    (viewer,) = {path.resolve() for path in torch_build.folder.glob("*/**/torch/cuda/_memory_viz.py")}
    script = ("import pickle, runpy, sys; viz = runpy.run_path(sys.argv[1]); data = pickle.load(open(sys.argv[2], 'rb'));"
              "print(viz['segsum'](data), viz['trace'](data), len(viz['trace_plot'](data)), viz['Bytes'](int(sys.argv[3])))")  # fmt: skip
    shown = subprocess.run(["python3", "-c", script, viewer, path, str(moment["live_bytes"])], capture_output=True, text=True,
                           check=True, timeout=TIMEOUT_S).stdout  # fmt: skip
    assert f"total_allocated: {shown.split()[-1]}\n" in shown and "cudaMalloc(" in shown
