# SPDX-License-Identifier: MIT
"""What the memory is for, told from stacks and lifetimes alone, is what the script knows it is for."""
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


def compared(recording):
    """(what the replay says, what the script knows) at each moment where it knows."""
    pairs = [(categories(recording.trace, seq), moment)
             for seq, moment in recording.marked_moments() if "held" in moment]
    assert len(pairs) >= 9
    return pairs


@pytest.mark.parametrize("name", RUNS)
def test_categories_are_what_the_script_knows(name, dry_run):
    for told, moment in compared(dry_run(*RUNS[name])):
        exact = {key: told.get(key, 0) for key in moment["held"]}
        assert (moment["note"], exact) == (moment["note"], moment["held"])
        if "saved" in moment:
            assert told["activations"] == pytest.approx(moment["saved"], rel=0.02)


# Three scripts that were written when the rules stood. What came out is kept here as it is: what differs,
# by how many bytes (or, of activations, which share), and why.
LATER = {
    # The scale and its counter, two blocks of 512 bytes, are of the GradScaler, which is the optimizer's.
    "resnet.py": ({"parameters": 0, "gradients": 0, "optimizer": 1024}, 0.0001),
    # The averaged copy of the weights is made by torch.optim.swa_utils: the optimizer's, not parameters.
    "encoder.py": ({"parameters": -1600512, "gradients": 0, "optimizer": 1600512}, 0.0002),
    # The script holds the decoder's output, which nothing needs for backward.
    "vae.py": ({"parameters": 0, "gradients": 0, "optimizer": 0}, 0.077),
}


@pytest.mark.parametrize("script", LATER)
def test_categories_of_scripts_that_the_rules_never_saw(script, dry_run):
    differences, share = LATER[script]
    for told, moment in compared(dry_run(script))[1:]:
        by = {key: told.get(key, 0) - moment["held"][key] for key in moment["held"]}
        assert (moment["note"], by) == (moment["note"], differences)
        if "saved" in moment:
            assert 0 <= told["activations"] / moment["saved"] - 1 <= share
