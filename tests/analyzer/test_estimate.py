# SPDX-License-Identifier: MIT
"""`gpumemtrace estimate`: the published figures it has to meet, and what it says to bad input."""
import json
import re

import pytest

from support.run import ROOT

SAMPLES = ROOT / "samples"
LINEAR = {"type": "Linear", "in": 32, "out": 16, "bias": False}


def model(*layers, **fields):
    return {"schema": "gpumemtrace.model/1", "input": [32], "layers": list(layers) or [LINEAR],
            **fields}


@pytest.fixture
def write(tmp_path):
    """write(model) or write(text) is the path of a file that holds it."""

    def write(content):
        path = tmp_path / "model.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.fixture
def estimate(gpumemtrace, write):
    """estimate(model or path, options …) is the JSON of a run that succeeds."""

    def estimate(source, *options):
        path = write(source) if isinstance(source, dict) else source
        completed = gpumemtrace("estimate", path, *options, "--json")
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)

    return estimate


@pytest.fixture
def refused(gpumemtrace, write):
    """refused(model, parts …): exit 2, nothing on stdout, one line on stderr with every part."""

    def refused(source, *parts, options=()):
        path = source if hasattr(source, "exists") else write(source)
        completed = gpumemtrace("estimate", path, *options)
        assert completed.returncode == 2, completed.stdout
        assert completed.stdout == ""
        assert len(completed.stderr.splitlines()) == 1, completed.stderr
        assert completed.stderr.startswith("gpumemtrace: estimate: ")
        for part in parts:
            assert part in completed.stderr

    return refused


# --- figures ---------------------------------------------------------------------------------------


def test_vgg16_has_the_published_parameters_and_values(estimate):
    result = estimate(SAMPLES / "vgg16.json")
    assert result["parameters"] == {"count": 138_357_544, "bytes": 4 * 138_357_544}
    assert result["forward_values"] == 15_237_608


def test_vgg16_keeps_73334688_bytes_of_an_image_for_backward(estimate):
    assert estimate(SAMPLES / "vgg16.json")["kept_for_backward_bytes"] == 73_334_688
    assert estimate(SAMPLES / "vgg16.json", "--batch=8")["kept_for_backward_bytes"] == 8 * 73_334_688


def test_the_fully_connected_example_takes_21248_bytes(estimate):
    result = estimate(SAMPLES / "linear-example.json")
    assert result["rule_of_thumb_bytes"] == 21_248
    assert result["peak"]["requested_bytes"] == 21_248


def test_the_same_example_in_training_follows_the_optimizer(estimate):
    for optimizer, factor in (("sgd", 2), ("momentum", 3), ("adam", 4)):
        result = estimate(model(batch=100), f"--optimizer={optimizer}")
        assert result["rule_of_thumb_bytes"] == 4 * (512 * factor + 1600 * 2 + 3200)


def test_parameters_gradients_and_states_are_told_apart(estimate):
    weights = 4 * 512
    categories = estimate(model(batch=1), "--optimizer=adam")["categories"]
    assert categories["parameters"] == weights
    assert categories["gradients"] == weights
    assert categories["optimizer"] == 2 * weights
    assert categories["temporaries"] == weights
    assert categories["input"] == 4 * 32
    assert categories["context"] is None


def test_categories_add_up_to_the_peak(estimate):
    for name in ("vgg16.json", "train.json", "linear-example.json"):
        result = estimate(SAMPLES / name)
        assert sum(filter(None, result["categories"].values())) == result["peak"]["requested_bytes"]


def test_the_peak_of_a_small_batch_is_in_the_optimizer_of_a_large_one_in_backward(estimate):
    assert estimate(SAMPLES / "vgg16.json")["peak"]["at"] == "optimizer step"
    large = estimate(SAMPLES / "vgg16.json", "--batch=64", "--optimizer=sgd")
    assert large["peak"]["at"].startswith("backward of layer ")
    forward = estimate(SAMPLES / "vgg16.json", "--inference", "--batch=64")
    assert forward["peak"]["at"].startswith("forward ")


def test_load_is_parameters_and_buffers_and_its_segments(estimate):
    load = estimate(model(), "--batch=7")["load"]
    assert load == {"requested_bytes": 2048, "allocated_bytes": 2048, "reserved_bytes": 2 << 20}


def test_a_type_of_half_the_width_takes_half_the_bytes(estimate):
    whole = estimate(SAMPLES / "vgg16.json", "--inference")
    half = estimate(SAMPLES / "vgg16.json", "--inference", "--dtype=bf16")
    assert half["parameters"]["count"] == whole["parameters"]["count"]
    assert half["load"]["requested_bytes"] * 2 == whole["load"]["requested_bytes"]


def test_inference_drops_gradients_optimizer_and_what_backward_needs(estimate):
    result = estimate(SAMPLES / "vgg16.json", "--inference")
    assert result["categories"]["gradients"] == result["categories"]["optimizer"] == 0
    assert result["kept_for_backward_bytes"] is None
    assert result["peak"]["requested_bytes"] < 600 << 20


def test_options_override_the_file_and_the_file_the_defaults(estimate):
    default = estimate(model())["settings"]
    assert default == {"mode": "training", "batch": 1, "dtype": "float32", "optimizer": "adamw"}
    source = model(batch=5, dtype="fp16", optimizer="sgd")
    assert estimate(source)["settings"] == {
        "mode": "training", "batch": 5, "dtype": "float16", "optimizer": "sgd"}
    assert estimate(source, "--batch=6", "--dtype=bf16", "--optimizer=adam")["settings"] == {
        "mode": "training", "batch": 6, "dtype": "bfloat16", "optimizer": "adam"}


def test_context_and_workspace_are_unknown_until_given(estimate):
    plain = estimate(model())
    assert plain["peak"]["device_bytes"] is None
    assert plain["categories"]["workspace"] is None
    given = estimate(model(), "--context=300MiB", "--workspace=8519680")
    assert given["categories"]["workspace"] == 8_519_680
    assert given["peak"]["device_bytes"] == given["peak"]["reserved_bytes"] + (300 << 20)
    assert (given["peak"]["requested_bytes"] - plain["peak"]["requested_bytes"]) == 8_519_680


def test_torch_argument_names_mean_the_same(estimate):
    ours = estimate(model({"type": "Conv2d", "in": 3, "out": 8, "kernel": 3}, input=[3, 9, 9]))
    torch = estimate(model({"type": "Conv2d", "in_channels": 3, "out_channels": 8,
                            "kernel_size": [3, 3]}, input=[3, 9, 9]))
    assert ours == torch


def test_arguments_without_effect_on_memory_are_ignored_and_documented(estimate):
    names = re.findall(r"^IGNORED\((\w+)\)",
                       (ROOT / "analyzer/estimate/ignored_fields.def").read_text(), re.M)
    plain = {"type": "BatchNorm1d", "features": 32}
    assert estimate(model({**plain, **dict.fromkeys(names, 1)})) == estimate(model(plain))
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    assert names and all(f"`{name}`" in document for name in names)


def test_every_layer_type_field_and_optimizer_is_documented():
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    folder = ROOT / "analyzer" / "estimate"
    types = re.findall(r"^LAYER\((\w+),", (folder / "layers.def").read_text(), re.M)
    fields = re.findall(r'^FIELD\((\w+),[^"]*"([^"]*)"', (folder / "fields.def").read_text(), re.M)
    names = re.findall(r'^OPTIMIZER\([^"]*"([^",]+)', (folder / "optimizers.def").read_text(), re.M)
    assert len(types) > 30 and len(fields) > 15 and len(names) > 5
    aliases = [alias for _, listed in fields for alias in listed.split(",") if alias]
    for name in types + [field for field, _ in fields] + aliases + names:
        assert f"`{name}`" in document or f"`{name}`:" in document, name


def test_a_table_of_up_to_60_layers_is_shown_and_a_longer_one_when_asked_for(gpumemtrace, write):
    def shown(count, *options):
        path = write(model(*[{"type": "Linear", "out": 32}] * count))
        return gpumemtrace("estimate", path, *options).stdout.count("  Linear  ")

    assert shown(60) == 60
    assert shown(61) == 0
    assert shown(61, "--layers") == 61


def test_json_has_every_layer_however_many(estimate):
    assert len(estimate(model(*[{"type": "Linear", "out": 32}] * 200))["layers"]) == 200


# --- bad input -------------------------------------------------------------------------------------

BAD_LAYERS = {
    "no object": (5, ["layer 1", "an object, not 5"]),
    "no type": ({"in": 3}, ["layer 1", "'type'", "missing"]),
    "type of a wrong kind": ({"type": 3}, ["layer 1", "'type'", "not 3"]),
    "unknown type": ({"type": "Linaer"}, ["layer 1", "'Linaer'"]),
    "missing field": ({"type": "Linear"}, ["layer 1 (Linear)", "'out'", "missing"]),
    "unknown field": ({"type": "Linear", "out": 1, "bais": True}, ["layer 1 (Linear)", "'bais'"]),
    "field of another type": ({"type": "ReLU", "kernel": 3}, ["layer 1 (ReLU)", "'kernel'"]),
    "text for a number": ({"type": "Linear", "out": "16"}, ["'out'", "integer", "'16'"]),
    "fraction": ({"type": "Linear", "out": 1.5}, ["'out'", "integer", "1.5"]),
    "zero": ({"type": "Linear", "out": 0}, ["'out'", "from 1", "not 0"]),
    "negative": ({"type": "Linear", "out": -4}, ["'out'", "from 1", "not -4"]),
    "absurd": ({"type": "Linear", "out": 1 << 50}, ["'out'", "not 1125899906842624"]),
    "null": ({"type": "Linear", "out": None}, ["'out'", "not null"]),
    "number for a flag": ({"type": "Linear", "out": 1, "bias": 1}, ["'bias'", "true or false"]),
    "share above one": ({"type": "Dropout", "p": 1.5}, ["'p'", "from 0 to 1"]),
    "twice under two names": ({"type": "Linear", "out": 1, "out_features": 1}, ["twice"]),
    "line break in a key": ({"type": "ReLU", "a\nb": 1}, ["'a?b'"]),
    "name of a wrong kind": ({"type": "ReLU", "name": 1}, ["'name'", "text"]),
    "overflow": ({"type": "Linear", "out": 1 << 40}, ["layer 1 (Linear)", "64 bits"]),
}


@pytest.mark.parametrize("layer, parts", BAD_LAYERS.values(), ids=BAD_LAYERS)
def test_a_bad_layer_is_named_with_its_field_in_one_line(refused, layer, parts):
    refused(model({"type": "Linear", "out": 1 << 30}, layer), *parts)


BAD_MODELS = {
    "no schema": ({"input": [1], "layers": [LINEAR]}, ["'schema'", "missing"]),
    "another schema": (model(schema="gpumemtrace.model/2"), ["'schema'", "gpumemtrace.model/1"]),
    "no input": ({"schema": "gpumemtrace.model/1", "layers": [LINEAR]}, ["'input'", "missing"]),
    "empty input": (model(input=[]), ["'input'", "list of 1 to 4"]),
    "input of five dimensions": (model(input=[1, 1, 1, 1, 1]), ["'input'", "list of 1 to 4"]),
    "negative input": (model(input=[-32]), ["'input'", "not -32"]),
    "no layers": ({"schema": "gpumemtrace.model/1", "input": [1]}, ["'layers'", "missing"]),
    "empty layers": ({"schema": "gpumemtrace.model/1", "input": [1], "layers": []}, ["'layers'"]),
    "layers of a wrong kind": ({"schema": "gpumemtrace.model/1", "input": [1], "layers": 3},
                               ["'layers'"]),
    "unknown key": (model(bacth=3), ["'bacth'"]),
    "batch of zero": (model(batch=0), ["'batch'", "not 0"]),
    "batch as text": (model(batch="3"), ["'batch'", "integer"]),
    "unknown dtype": (model(dtype="float8"), ["'dtype'", "float8", "float32"]),
    "unknown optimizer": (model(optimizer="adamax"), ["'optimizer'", "adamax", "adamw"]),
    "training as number": (model(training=1), ["'training'", "true or false"]),
    "name as number": (model(name=1), ["'name'", "text"]),
    "a list": ("[]", ["outermost value"]),
    "no JSON": ("layers: 3", ["line 1"]),
    "empty": ("", ["line 1"]),
    "cut off": (json.dumps(model())[:-1], ["line 1"]),
    "a key twice": ('{"schema": "gpumemtrace.model/1", "input": [1], "input": [2]}', ["line 1"]),
    "a number beyond 64 bits": (json.dumps(model(batch=1 << 70)), ["line 1"]),
    "a Hugging Face config": ({"model_type": "llama", "hidden_size": 1}, ["Hugging Face"]),
}


@pytest.mark.parametrize("content, parts", BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_bad_model_is_refused_in_one_line_that_names_the_file(refused, content, parts):
    refused(content, "model.json: ", *parts)


def test_a_file_that_is_no_model_is_refused(refused, tmp_path):
    refused(tmp_path / "missing.json", "missing.json", "No such file")
    refused(tmp_path, "is a directory")
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    refused(binary, "not a model description")


BAD_OPTIONS = {
    "--batch=0": "--batch",
    "--batch=-1": "--batch",
    "--batch=many": "'many'",
    "--batch=99999999999999999999": "--batch",
    "--dtype=int3": "'int3'",
    "--optimizer=magic": "'magic'",
    "--workspace=8XB": "8XB",
    "--bias": "--bias",
}


@pytest.mark.parametrize("option, part", BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(refused, option, part):
    refused(model(), part, options=[option])


def test_a_batch_that_overflows_is_refused_with_the_layer(refused):
    refused(model(), "layer 0 (Linear)", "64 bits", options=[f"--batch={1 << 60}"])


def test_inplace_on_what_backward_needs_is_refused_as_pytorch_does(refused):
    refused(model({"type": "Linear", "out": 8}, {"type": "Tanh"},
                  {"type": "ReLU", "inplace": True}), "layer 2 (ReLU)", "'inplace'")
