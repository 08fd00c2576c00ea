# SPDX-License-Identifier: MIT
"""The samples written in PyTorch print the same figures as their recordings."""
import json
import re

import pytest

from support.published import OFF_RATIO, TORCHTITAN_GIB
from support.run import ROOT

# A model of 1.4 million parameters that runs the same code as the large one.
SMALL = ("--layers=2", "--hidden=256", "--heads=4", "--kv-heads=2", "--ffn=512", "--vocabulary=1000", "--sequence=128",
         "--steps=2")
COUNTED = re.compile(r"own count: (\d+) bytes allocated, (\d+) reserved")


def test_a_rank_of_a_sharded_llama_peaks_at_what_pytorch_counts(dry_run):
    recording = dry_run(ROOT / "samples/fsdp_llama.py", *SMALL, rank="0/8")
    allocated, reserved = map(int, COUNTED.search(recording.completed.stdout).groups())
    (pool,) = recording.report()["devices"][0]["pools"]
    assert pool["peak_live_bytes"] == allocated > 0
    assert pool["peak_reserved_bytes"] == reserved > allocated


@pytest.mark.parametrize("rank", ["0/8", "0/128"])
def test_one_rank_of_llama_3_alone_reserves_what_torchtitan_published(dry_run, rank):
    """Two steps are enough, as doc/measurements.md shows. tests/field checks the compiled rows, because they need
    Triton."""
    recording = dry_run(ROOT / "samples/fsdp_llama.py", "--steps=2", spec="95GiB", rank=rank)
    (pool,) = recording.report()["devices"][0]["pools"]
    assert pool["peak_reserved_bytes"] / 2**30 == pytest.approx(TORCHTITAN_GIB[rank, False], rel=OFF_RATIO)


@pytest.mark.parametrize(
    ("name", "kind", "shape"),
    [("Decoder", "int64:", "128"), ("Composed", "", "50x32"), ("Images", "", "3x64x64"), ("Encoder", "", "50x16"), ("Biased", "", "64x32")],
)
def test_a_described_module_has_pytorchs_parameters_and_saves_for_backward_what_it_saves(dry_run, gpumemtrace, name, kind, shape):
    """The description is made with a batch of 2 and the estimate with 16. So the description must know which sizes grow
    with the batch."""
    modules = ROOT / "tests/pytorch/described.py"
    described = dry_run(ROOT / "samples/describe_torch.py", f"{modules}:{name}", f"--input={kind}2x{shape}").completed.stdout
    trained = dry_run(modules, name, f"{kind}16x{shape}").completed.stdout
    parameters, saved, allocated, _ = map(int, trained.split())
    completed = gpumemtrace("estimate", "-", "--batch=16", "--logits=dropped", "--json", input=described)
    assert completed.returncode == 0, completed.stderr
    estimated = json.loads(completed.stdout)
    assert estimated["parameters"]["count"] == parameters
    assert estimated["kept_for_backward_bytes"] == pytest.approx(saved, rel=0.001)
    assert saved < estimated["peak"]["allocated_bytes"] <= 1.001 * allocated, "the libraries' workspaces come on top"
