# SPDX-License-Identifier: MIT
"""Compares the estimate of each GPU's memory, with DataParallel and DistributedDataParallel, with a dry run on two
simulated cards."""
import json

import pytest

from support.run import ROOT


def linear(out):
    return {"type": "Linear", "out": out}


RELU = {"type": "ReLU"}
MODEL = {"schema": "gpumemtrace.model/1", "input": [2048], "batch": 512, "optimizer": "adam",
         "layers": [linear(2048), RELU, linear(2048), RELU, linear(32768), {"type": "CrossEntropyLoss"}]}  # fmt: skip


@pytest.fixture(name="imbalance")
def fixture_imbalance(gpumemtrace):
    options = ["--gpus=2", "--parallel=dp", "--logits=dropped", "--json"]
    completed = gpumemtrace("estimate", "-", *options, input=json.dumps(MODEL))
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)["imbalance"]


def counted(dry_run, how):
    """Returns PyTorch's peak of each GPU in bytes. The peaks lack cuBLAS's workspaces, because a dry run has none."""
    return [int(word) for word in dry_run(ROOT / "tests/pytorch/imbalance.py", how, spec="2x16GiB").completed.stdout.split()]


def test_gpu_0_of_dataparallel_needs_more_than_the_other_as_estimated(dry_run, imbalance):
    first, other = counted(dry_run, "dp")
    assert first > 1.5 * other
    assert imbalance["first_bytes"] == pytest.approx(first, rel=0.02)
    assert imbalance["others_bytes"] == pytest.approx(other, rel=0.02)


def test_gpus_of_distributeddataparallel_need_alike_as_estimated(dry_run, imbalance):
    first, _ = counted(dry_run, "ddp")
    assert imbalance["distributed_bytes"] == pytest.approx(first, rel=0.02)
