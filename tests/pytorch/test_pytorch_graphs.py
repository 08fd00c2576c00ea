# SPDX-License-Identifier: MIT
"""The segments that belong to CUDA graphs are those of the private pools in PyTorch's own snapshot."""
import pytest

from support.run import load_json


def of_graphs(recording, seq):
    (device,) = load_json("frag", "--segments", f"--at={seq}", recording.trace)["devices"]
    return {segment["address"] for segment in device["segments"] if segment["of_graph"]}


def of_private_pools(moment):
    return {segment["address"] for segment in moment["segments"] if tuple(segment["pool"]) != (0, 0)}


@pytest.mark.parametrize("settings", ["", "expandable_segments:True"])
def test_a_private_pools_segments_belong_to_its_graphs_until_the_last_is_gone(dry_run, settings):
    recording = dry_run("graphs.py", PYTORCH_CUDA_ALLOC_CONF=settings)
    told = {moment["note"]: (of_graphs(recording, seq), of_private_pools(moment), moment)
            for seq, moment in recording.marked_moments()}  # fmt: skip
    ours, theirs, moment = told["three graphs"]
    assert len(ours) >= 2 and (ours == theirs if not settings else ours)
    assert sum(s["size"] for s in moment["segments"]) > 0
    assert told["two graphs"][0] < ours  # PyTorch keeps the third graph's segments until empty_cache()
    for note in ("flushed", "one graph"):
        assert told[note][0] == told["two graphs"][0]
        assert settings or told[note][0] == told[note][1]
    assert told["no graph"][0] == told["flushed again"][0] == set()
