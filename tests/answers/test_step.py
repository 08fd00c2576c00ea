# SPDX-License-Identifier: MIT
"""The estimated step: its list of moments, and the owners of the memory at its peak."""
import json
import math

import pytest

from support.run import ROOT, load_json, run_command

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 40, "hidden_size": 64,
         "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 500}
MODELS = {"vgg16": (ROOT / "samples/vgg16.json", ["--batch=8"]), "vgg16, one image": (ROOT / "samples/vgg16.json", []),
          "train": (ROOT / "samples/train.json", []), "inference": (ROOT / "samples/vgg16.json", ["--inference"]), "llama": (LLAMA, [])}


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def result(request, tmp_path):
    model, options = request.param
    if isinstance(model, dict):
        (tmp_path / "config.json").write_text(json.dumps(model))
        model = tmp_path / "config.json"
    return load_json("estimate", model, *options)


def test_the_step_has_the_peak_and_nothing_above_it(result):
    highest = max(result["step"], key=lambda row: row["live_bytes"])
    assert highest["live_bytes"] == result["peak"]["requested_bytes"]
    assert highest["at"] == result["peak"]["at"]
    assert highest["categories"] == {key: size for key, size in result["categories"].items() if size}


def test_each_moment_is_made_of_its_categories(result):
    for row in result["step"]:
        assert sum(row["categories"].values()) == row["live_bytes"] >= row["lowest_bytes"]
        assert row["categories"][row["most"]] == max(row["categories"].values())


def test_the_phases_of_the_step_come_in_their_order_and_as_high_as_they_get(result):
    order = ["data", "forward", "backward", "optimizer"]
    phases = [row["phase"] for row in result["step"]]
    if result["settings"]["mode"] == "training":
        assert phases == sorted(phases, key=order.index) and len(set(phases)) >= 3
    highest = {row["name"]: row["peak_bytes"] for row in result["phases"]}
    for row in result["step"]:
        assert row["live_bytes"] <= highest[row["phase"]]


def test_the_layers_add_up_to_the_peak(result):
    rows = result["layers_at_peak"]
    assert sum(row["bytes"] for row in rows) == result["peak"]["requested_bytes"]
    assert [row["bytes"] for row in rows] == sorted((row["bytes"] for row in rows), reverse=True)
    assert math.isclose(sum(row["share_ratio"] for row in rows), 1, abs_tol=0.01)
    assert len({(row["layer"], row["phase"]) for row in rows}) == len(rows)


def test_a_layer_holds_at_least_its_parameters(result):
    held = {row["layer"]: row["bytes"] for row in result["layers_at_peak"]}
    for layer in result["layers"]:
        assert held.get(layer["index"], 0) >= layer["parameter_bytes"] + layer["buffer_bytes"]


def test_a_long_model_has_few_moments_and_text_even_fewer(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert len(load_json("estimate", tmp_path / "config.json")["step"]) <= 240
    text = run_command("estimate", tmp_path / "config.json").stdout
    table = text.split("The step of the peak, with the largest category\n")[1].split("\n\n")[0].splitlines()
    assert 10 < len(table) <= 26 and sum(": the peak" in line for line in table) == 1


def test_the_peak_is_marked_with_its_moment():
    for options in ([], ["--batch=8"], ["--inference"]):
        text = run_command("estimate", ROOT / "samples/vgg16.json", *options).stdout
        at = load_json("estimate", ROOT / "samples/vgg16.json", *options)["peak"]["at"]
        assert f"  {at}: the peak\n" in text
