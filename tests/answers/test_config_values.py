# SPDX-License-Identifier: MIT
"""A value of another kind in a config, or in --set, is refused in one line that names its field."""
import json

import pytest

from support.run import run_command

DEPTHS = {"llama": "num_hidden_layers", "mixtral": "num_hidden_layers", "bert": "num_hidden_layers", "gpt2": "n_layer",
          "t5": "num_decoder_layers", "whisper": "encoder_layers", "gemma3_text": "num_hidden_layers"}  # fmt: skip
INTEGER, NUMBER, FLAG, TEXT, LIST = "an integer of 0 or more", "a number", "true or false", "a text", "a list or an object"


@pytest.fixture
def config_error(tmp_path):
    """Returns config_error(keys), which is the one line with which the config is refused."""

    def config_error(config, *options):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        completed = run_command("estimate", path, *options)
        assert (completed.returncode, completed.stdout) == (2, ""), completed
        assert completed.stderr.count("\n") == 1
        return completed.stderr.rstrip("\n").removeprefix(f"gpumemtrace: estimate: {path}: ")

    return config_error


@pytest.mark.parametrize("value, shown", [("2", "'2'"), (True, "true"), (-3, "-3"), (2.5, "2.5"), ([2], "a list of 1"),
                                          ({}, "an object")])  # fmt: skip
@pytest.mark.parametrize("family", DEPTHS)
def test_a_number_of_layers_must_be_an_integer(config_error, family, value, shown):
    error = config_error({"model_type": family, DEPTHS[family]: value})
    assert error == f"field '{DEPTHS[family]}' must be {INTEGER}, not {shown}"


OF_OTHER_KINDS = {
    "a text for heads": ("llama", "num_key_value_heads", "8", INTEGER),
    "a text for a computed size": ("llama", "head_dim", "128", NUMBER),
    "a flag for a computed size": ("gpt2", "n_inner", True, NUMBER),
    "a text for a share": ("llama", "attention_dropout", "0.1", NUMBER),
    "a text for a flag": ("llama", "attention_bias", "true", FLAG),
    "a list for an activation": ("llama", "hidden_act", ["silu"], TEXT),
    "a number for labels": ("bert", "id2label", 3, LIST),
    "a text for kinds of layers": ("gemma3_text", "layer_types", "full_attention", LIST),
}


@pytest.mark.parametrize("family, key, value, kind", OF_OTHER_KINDS.values(), ids=OF_OTHER_KINDS)
def test_a_value_of_another_kind_names_what_belongs_there(config_error, family, key, value, kind):
    assert config_error({"model_type": family, key: value}).startswith(f"field '{key}' must be {kind}, not ")


def test_too_many_layers_come_of_a_repetition(config_error):
    error = config_error({"model_type": "gpt2", "n_layer": 1e3})
    assert "too many layers, at most 10000; this one is in repetition " in error and error.endswith(" of its block")


def test_a_quantization_is_an_object(config_error):
    error = config_error({"model_type": "llama", "quantization_config": "4bit"})
    assert error == "field 'quantization_config' must be an object, not '4bit'"


def test_a_part_of_a_config_is_named(config_error):
    text = {"model_type": "gemma3_text", "num_hidden_layers": "34"}
    assert config_error({"model_type": "gemma3", "text_config": text}) == (
        f"text_config: field 'num_hidden_layers' must be {INTEGER}, not '34'")  # fmt: skip
    vision = {"model_type": "clip", "vision_config": {"hidden_size": "768"}}
    assert "field 'hidden_size' must be a number, not '768'" in config_error(vision)


def test_an_option_is_named(config_error):
    error = config_error({"model_type": "llama"}, "--set=num_hidden_layers=two")
    assert error == f"option '--set': 'num_hidden_layers' must be {INTEGER}, not 'two'"


@pytest.mark.parametrize("depth", [2.0, 2, None])
def test_other_ways_to_write_a_number_are_read(tmp_path, depth):
    path = tmp_path / "config.json"
    small = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 64,
             "tie_word_embeddings": 0}  # fmt: skip
    path.write_text(json.dumps({**small, "num_hidden_layers": depth}))
    completed = run_command("estimate", path, "--json")
    assert completed.returncode == 0, completed.stderr
    assert ("num_hidden_layers (32)" in completed.stdout) == (depth is None)
