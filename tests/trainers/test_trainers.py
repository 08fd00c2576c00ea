# SPDX-License-Identifier: MIT
"""Trainers of several libraries in dry runs: `steps` and `phases` count as the script does (scripts/count.py), and the
categories of `peak` are those that PyTorch tells the script."""
import json

import pytest

from support.pytorch_builds import SCRIPTS, Build
from support.run import BUILD, ROOT, load_json, run_command

HERE = ROOT / "tests/trainers/scripts"
KINDS = ("steps", "forwards", "backwards", "optimizers")
# {script: how many of each kind it must count}
COUNTS = {
    "hf_accumulation": (4, 8, 8, 4),
    "hf_checkpointing": (4, 4, 4, 4),
    "hf_evaluation": (4, 4 + 3 * 3, 4, 4),
    "hf_lora": (4, 4, 4, 4),
    "lightning_automatic": (8, 8 + 2 * 3 + 2, 8, 8),  # two batches of validation come first
    "lightning_manual": (5, 10, 10, 10),
    "accelerate_accumulate": (6, 20, 20, 6),
    "accelerate_fp16": (8, 8 + 2 * 2, 8, 8),
    "timm_ema": (8, 8 + 2 * 2 * 4, 8, 8),
    "diffusers_unet": (6, 6, 6, 6),
    "diffusers_latent": (5, 5, 5, 5),
}
ACTIVATIONS_OFF_RATIO = 0.02

scripts = pytest.mark.parametrize("recording", COUNTS, indirect=True)


@pytest.fixture(scope="module")
def recording(request, tmp_path_factory):
    build = Build("wheel")
    if build.missing():
        pytest.skip(build.missing())
    paths = ":".join(map(str, (BUILD / "transformers", BUILD / "trainers", SCRIPTS)))
    made = build.dry_run(tmp_path_factory.mktemp(request.param), HERE / f"{request.param}.py", PYTHONPATH=paths)
    assert run_command("resolve", made.trace).returncode == 0
    made.counts = json.loads(made.completed.stdout.splitlines()[-1])
    assert tuple(made.counts.values()) == COUNTS[request.param]
    return made


@scripts
def test_steps_and_phases_are_counted_as_the_trainer_counts_them(recording):
    (device,) = load_json("steps", recording.trace)["devices"]
    (phases,) = load_json("phases", "--layer=pool", recording.trace)["devices"]
    of_phases = {row["path"]: row["count"] for row in phases["phases"]}
    found = (device["steps"]["step_count"], *(of_phases[name] for name in ("forward", "backward", "optimizer")))
    assert dict(zip(KINDS, found)) == recording.counts


@scripts
def test_categories_are_those_that_pytorch_tells(recording):
    wrong, moments = [], recording.marked_moments()
    for seq, moment in moments:
        (device,) = load_json("peak", recording.trace, "--layer=pool", f"--at={seq}")["devices"]
        told = {row["category"]: row["bytes"] for row in device["categories"]}
        told["parameters"] = told.get("parameters", 0) + told.pop("buffers", 0)
        if "saved" in moment and abs(told["activations"] / moment["saved"] - 1) > ACTIVATIONS_OFF_RATIO:
            wrong.append((moment["note"], told["activations"], moment["saved"]))
        wrong += [(moment["note"], key, told.get(key, 0), held) for key, held in moment.get("held", {}).items() if told.get(key, 0) != held]
    assert len(moments) == recording.counts["backwards"] + recording.counts["optimizers"]
    assert wrong == []
