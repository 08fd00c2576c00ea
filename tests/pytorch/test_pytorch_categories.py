# SPDX-License-Identifier: MIT
"""What the memory is for, told from stacks and lifetimes alone, is what the script knows it is for."""
import json

import pytest

from conftest import load_json
from pytorchbuilds import dry_run, torch_build  # noqa: F401 (fixtures)

RUNS = {
    "mlp sgd": ("mlp.py", "sgd"),
    "mlp momentum": ("mlp.py", "momentum"),
    "mlp adam": ("mlp.py", "adam"),
    "mlp adam-foreach": ("mlp.py", "adam-foreach"),
    "mlp adam-fused": ("mlp.py", "adam-fused"),
    "cnn": ("cnn.py",),
    "gpt": ("gpt.py",),
    "gpt with checkpointing": ("gpt.py", "--checkpoint"),
    "lstm": ("lstm.py",),
}


def categories(trace, seq):
    (device,) = load_json("peak", trace, "--layer=pool", f"--at={seq}")["devices"]
    told = {row["category"]: row["bytes"] for row in device["categories"]}
    told["parameters"] = told.get("parameters", 0) + told.pop("buffers", 0)
    return told


@pytest.mark.parametrize("name", RUNS)
def test_categories_are_what_the_script_knows(name, dry_run, tmp_path):
    recording = dry_run(*RUNS[name], MOMENTS=tmp_path / "moments.json")
    moments = json.loads((tmp_path / "moments.json").read_text())
    marks = recording.rows(
        "SELECT CAST(substr(text, 8) AS INTEGER), seq FROM event JOIN string ON string_id = object"
        " WHERE kind = 13 AND text LIKE 'moment %' ORDER BY seq"
    )
    compared = 0
    for number, seq in marks:
        moment = moments[number]
        if "held" not in moment:
            continue
        told = categories(recording.trace, seq)
        exact = {key: told.get(key, 0) for key in moment["held"]}
        assert (number, moment["note"], exact) == (number, moment["note"], moment["held"])
        if "saved" in moment:
            assert told["activations"] == pytest.approx(moment["saved"], rel=0.02), (number, told)
        compared += 1
    assert compared >= 9
