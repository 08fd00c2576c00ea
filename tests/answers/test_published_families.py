# SPDX-License-Identifier: MIT
"""Families of models. Their properties are compared with the behaviour of their classes in transformers."""
import json

import pytest

from support.run import load_json, run_command

GEMMA2 = {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "hidden_size": 768, "num_hidden_layers": 4,
          "num_attention_heads": 8, "vocab_size": 20000, "intermediate_size": 3072, "num_key_value_heads": 4, "head_dim": 96}


@pytest.fixture
def ask(tmp_path):
    """Returns ask(config, option, …), which returns the JSON of the estimate."""
    path = tmp_path / "config.json"

    def ask(config, *options):
        path.write_text(json.dumps(config))
        return load_json("estimate", path, *options)

    return ask


def attention(result):
    return next(row["saved_bytes"] for row in result["layers"] if row["name"].endswith("layers.0.self_attn"))


@pytest.mark.parametrize(("keys", "options", "measured"), [
    ({}, ["--batch=2", "--set=sequence=1024"], 2_787_139_072),
    ({"vocab_size": 8000, "dtype": "bfloat16"}, ["--set=sequence=2048"], 2_132_513_792)], ids=["float32", "bfloat16"])
def test_gemma_2_is_trained_with_composed_attention_where_nobody_says_otherwise(ask, keys, options, measured):
    peak = ask({**GEMMA2, **keys}, *options)["peak"]["allocated_bytes"]  # measured in dry runs of transformers
    assert abs(peak / measured - 1) < 0.02


def test_a_limit_on_scores_keeps_each_of_them_once_more(ask):
    def kept(**keys):
        return attention(ask({**GEMMA2, **keys}, "--set=sequence=128"))

    assert kept() - kept(attn_logit_softcapping=None) == 8 * 128 * 128 * 4


def test_gemma_3_has_one_kernel_and_a_limit_only_where_its_config_has_one(ask):
    gemma3 = {**GEMMA2, "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"]}
    assert attention(ask(gemma3)) == attention(ask(gemma3, "--attention=sdpa")) < attention(ask(gemma3, "--attention=eager"))
    capped = {**gemma3, "attn_logit_softcapping": 50.0}
    assert attention(ask(capped, "--attention=eager")) > attention(ask(gemma3, "--attention=eager"))


def names(result):
    return [row["name"] for row in result["tensors"]]


def test_tensors_stand_in_the_order_in_which_their_class_makes_them(ask):
    layers = [{"type": "Linear", "name": f"{name}", "out": 8, "bias": False} for name in ("late.inner", "last", "early", "unsaid")]
    model = {"schema": "gpumemtrace.model/1", "input": [8],
             "layers": [{"name": "block", "repeat": 2, "layers": layers}]}
    plain = [f"block.{run}.{name}.weight" for run in (0, 1) for name in ("late.inner", "last", "early", "unsaid")]
    assert names(ask(model, "--tensors")) == plain
    model["layers"][0]["registered"] = ["early", "late", "nothing"]
    first = [f"block.{run}.{name}.weight" for run in (0, 1) for name in ("early", "late.inner", "last", "unsaid")]
    assert names(ask(model, "--tensors")) == first
    assert names(ask({**model, "registered": ["block.1"]}, "--tensors")) == first[4:] + first[:4]


def test_the_order_of_weights_decides_how_segments_are_split(ask):
    """A segment of 20 MiB already holds 9.5 MiB. A tensor of 9.75 MiB behind them gets all of the remaining segment. In
    another place, the same tensor gets only its own size."""
    sizes = {"a": 9.5, "b": 9.75, "c": 4}
    weights = ({"type": "Parameter", "name": name, "shape": int(mib * 2 ** 18)} for name, mib in sizes.items())
    layers = [*weights, {"type": "Linear", "out": 1, "bias": False}]
    model = {"schema": "gpumemtrace.model/1", "input": [1], "layers": layers}
    loaded = [ask({**model, "registered": list(order)})["load"]["allocated_bytes"] - 512 for order in ("abc", "acb")]
    assert loaded == [24 << 20, 23.25 * 2 ** 20]


@pytest.mark.parametrize(("config", "loaded"), [
    ({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 5,
      "num_attention_heads": 16, "vocab_size": 16000, "intermediate_size": 2816, "num_key_value_heads": 8}, 372_290_560),
    ({"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 512,
      "text_config": {"hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048,
                      "vocab_size": 49408, "max_position_embeddings": 77},
      "vision_config": {"hidden_size": 768, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 3072,
                        "image_size": 224, "patch_size": 32}}, 360_131_584)], ids=["phi3", "clip"])
def test_a_loaded_model_has_the_bytes_that_a_dry_run_counted(ask, config, loaded):
    assert ask(config)["load"]["allocated_bytes"] == loaded


def test_a_size_that_is_written_with_a_point_is_the_same_size(ask):
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, "intermediate_size": 96}
    configs = ({"model_type": "llama", **{key: kind(size) for key, size in sizes.items()}} for kind in (int, float))
    whole, written = (ask(config, "--set=sequence=16") for config in configs)
    assert written["peak"] == whole["peak"] and written["parameters"] == whole["parameters"]


def test_a_dimension_whose_last_word_is_meant_is_named():
    done = run_command("estimate", "whisper-tiny", "--set=sequence=10")
    assert done.returncode == 2 and "did you mean 'decoder_sequence'?" in done.stderr


@pytest.mark.parametrize(("model", "option", "part"), [
    ("gpt2", "--set=sequence=1025", "a sequence of 1025 is longer than the 1024 positions"),
    ("bert-base", "--set=sequence=4096", "longer than the 512 positions"),
    # OPT's table of positions has 2050 rows, and RoBERTa's table has 514 rows.
    ("opt-125m", "--set=sequence=2049", "longer than the 2048 positions"),
    ("roberta-base", "--set=sequence=513", "longer than the 512 positions"),
    ("whisper-tiny", "--set=decoder_sequence=449", "longer than the 448 positions"),
    ("gpt2", "--kv-cache=1025", "a cache of 1025 tokens is longer than the 1024 positions")])
def test_a_sequence_beyond_the_learned_positions_is_refused(model, option, part):
    done = run_command("estimate", model, option)
    assert done.returncode == 2 and part in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_sequence_of_all_learned_positions_is_estimated():
    assert load_json("estimate", "gpt2", "--set=sequence=1024")["peak"] and load_json("estimate", "gpt2", "--kv-cache=1024")["peak"]
    assert load_json("estimate", "llama-2-7b", "--set=sequence=8192", "--gpu=h100")["peak"]


def test_a_composed_attention_of_an_own_file_has_its_softmax_in_the_type_of_its_scores(ask):
    def kept(**fields):
        layers = [{"type": "Linear", "name": name, "from": "input", "out": 64} for name in ("q", "k", "v")]
        layers.append({"type": "Attention", "name": "layers.0.self_attn", "from": ["q", "k", "v"], "heads": 4, "eager": True, **fields})
        return attention(ask({"schema": "gpumemtrace.model/1", "dtype": "bfloat16", "input": [32, 64], "layers": layers}))

    # The difference is a float32 copy, in addition to a bfloat16 copy.
    assert kept() == kept(wide=False) and kept(wide=True) - kept() == 4 * 32 * 32 * 4


def test_gradients_of_a_composed_attention_follow_one_another_in_the_same_segments(ask):
    """Scores in bfloat16 are made and scaled. In backward, the softmax in float32, its copy or gradient, the new gradient and a product
    are live, and each other tensor finds a free segment."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1, "hidden_size": 64,
              "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 96, "vocab_size": 500, "max_position_embeddings": 4096}
    scores = 8 * 1024 * 1024
    peak = ask(config, "--set=sequence=1024", "--attention=eager", "--dtype=bfloat16", "--optimizer=sgd")["peak"]
    assert 0 < peak["reserved_bytes"] - (2 * 2 + 4 * 4) * scores < 2 * scores


def test_a_t5_whose_config_says_so_has_a_head_of_its_own(ask):
    flan_t5_base = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 768, "d_ff": 2048, "num_layers": 12,
                    "num_heads": 12, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    assert ask(flan_t5_base)["parameters"]["count"] == 247_577_856  # as published with the weights
