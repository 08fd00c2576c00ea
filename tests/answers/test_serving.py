# SPDX-License-Identifier: MIT
"""`estimate --kv-cache`: a cache of keys and values, with its sequences and blocks. This file calculates each figure
independently."""
import json

import pytest

from support.run import load_json, run_command

SMALL = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 500, "max_position_embeddings": 4096, "dtype": "bfloat16"}


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(SMALL))
    return path


def cache(model, *options):
    return load_json("estimate", model, *options)["kv_cache"]


@pytest.mark.parametrize(("model", "token_bytes"), [
    ("llama-2-7b", 524_288), ("llama-2-70b", 327_680), ("llama-3-8b", 131_072),  # these figures are published
    ("deepseek-v3", 61 * (512 + 64) * 2), ("gpt2", 12 * 2 * 768 * 4), ("qwen2.5-7b", 28 * 2 * 4 * 128 * 2)])
def test_a_token_takes_what_is_published_of_the_model(model, token_bytes):
    assert cache(model, "--kv-cache=64")["token_bytes"] == token_bytes


def test_blocks_are_whole_and_of_the_type_that_is_asked_for(small):
    token = 2 * 2 * 32 * 2
    found = cache(small, "--kv-cache=1000", "--sequences=7", "--page=16")
    assert (found["token_bytes"], found["cache_bytes"]) == (token, 7 * 63 * 16 * token)
    assert found["unused_bytes"] == 7 * 8 * token
    assert cache(small, "--kv-cache=1000", "--sequences=7", "--page=16", "--kv-dtype=fp8")["cache_bytes"] == 7 * 63 * 16 * token // 2
    assert cache(small, "--kv-cache=1000", "--batch=7")["cache_bytes"] == 7 * 1000 * token


def test_a_window_bounds_what_its_layers_keep(tmp_path):
    config = {**SMALL, "model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "head_dim": 16, "num_hidden_layers": 4, "sliding_window": 100}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    row = 2 * 2 * 16 * 2
    assert cache(path, "--kv-cache=64")["cache_bytes"] == 4 * 64 * row
    assert cache(path, "--kv-cache=1000")["cache_bytes"] == 2 * 1000 * row + 2 * 100 * row
    assert cache(path, "--kv-cache=1000", "--page=16")["cache_bytes"] == 2 * 1008 * row + 2 * 112 * row


def test_a_growing_cache_needs_one_copy_more_and_blocks_do_not(small):
    growing = load_json("estimate", small, "--kv-cache=4000", "--batch=64", "--set=sequence=2")
    paged = load_json("estimate", small, "--kv-cache=4000", "--sequences=64", "--page=16", "--set=sequence=2")
    copy = 64 * 4000 * 32 * 2
    rest = growing["decode"]["requested_bytes"] - paged["decode"]["requested_bytes"]
    assert growing["kv_cache"]["cache_bytes"] == paged["kv_cache"]["cache_bytes"] == 4 * copy
    assert 0.95 * copy < rest < 1.05 * copy


def test_the_segments_of_smaller_copies_pile_up(small):
    found = load_json("estimate", small, "--kv-cache=4000", "--batch=640", "--set=sequence=2000")
    assert found["kv_cache"]["grown_reserved_bytes"] > 4 * found["decode"]["reserved_bytes"]
    assert cache(small, "--kv-cache=4000", "--page=16")["grown_reserved_bytes"] is None


def test_temporaries_of_attention_grow_with_the_cache_and_pile_up_too(small):
    """Eager attention repeats the keys for each pair of heads, so the copies of a layer are as large as its whole cache."""
    options = ["--kv-cache=4000", "--batch=640", "--set=sequence=2000"]
    eager, fused = (cache(small, *options, f"--attention={kind}")["grown_reserved_bytes"] for kind in ("eager", "sdpa"))
    assert eager > 1.25 * fused


def test_a_model_whose_layers_depend_on_the_cache_has_no_growth_from_token_to_token(tmp_path):
    def growth(condition):
        layers = [{"type": "Linear", "name": name, "from": "input", "out": 64} for name in ("q", "k", "v")]
        layers += [{"type": "Cache", "name": f"cached_{name}", "from": name, "rows": "cached"} for name in ("k", "v")]
        layers.append({"type": "Attention", "name": "attention", "from": ["q", "cached_k", "cached_v"], "heads": 4})
        layers += [{"type": "Linear", "name": f"late_{number}", "out": 64, "if": condition} for number in range(400)]
        path = tmp_path / "model.json"
        path.write_text(json.dumps({"schema": "gpumemtrace.model/1", "dtype": "float32", "input": ["sequence", 64], "layers": layers,
                                    "dimensions": {"sequence": 4, "cached": 4, "serves": False}}))  # fmt: skip
        return cache(path, "--kv-cache=64")["grown_reserved_bytes"]

    assert growth("cached > 2") and growth("cached > 20") is None


def test_the_prompt_is_no_longer_than_the_cache(small):
    assert cache(small, "--kv-cache=64")["prompt_tokens"] == 64
    assert cache(small, "--kv-cache=640", "--set=sequence=100")["prompt_tokens"] == 100
    assert cache(small, "--kv-cache=4000")["prompt_tokens"] == 2048


def test_the_first_line_says_how_many_sequences_fit(small):
    options = ["--gpu=1GiB", "--kv-cache=4000", "--page=16", "--set=sequence=128"]
    card = load_json("estimate", small, *options, "--sequences=8")["card"]
    most = card["largest_sequences"]
    line = " ".join(run_command("estimate", small, *options, "--sequences=8").stdout.split("\n\n", maxsplit=1)[0].split())
    assert "to spare at 8 concurrent sequences of 4000 tokens." in line and f"At most {most} of these fit" in line
    assert card["largest_batch"] is None and most > 8
    assert load_json("estimate", small, *options, f"--sequences={most}")["card"]["fits"]
    assert not load_json("estimate", small, *options, f"--sequences={most + 1}")["card"]["fits"]


def test_what_if_offers_a_smaller_cache(small):
    rows = {row["technique"]: row for row in load_json("estimate", small, "--kv-cache=4000", "--sequences=64", "--page=16", "--what-if")["what_if"]}
    half = 64 * 4000 * 2 * 2 * 32
    assert rows["cache8"]["saved_bytes"] == half and rows["cache8"]["how"] == "--kv-dtype=float8"
    assert rows["sequence"]["how"] == "--kv-cache=2000" and rows["batch"]["how"] == "--sequences=32"


@pytest.mark.parametrize(("model", "options", "words"), [
    ("resnet50", ["--kv-cache=8"], "is not known; a model needs the dimensions"), ("bert-base", ["--kv-cache=8"], "is not known; a model needs the dimensions"),
    ("gpt2", ["--page=16"], "--kv-cache=TOKENS"), ("gpt2", ["--kv-cache=8", "--kv-dtype=fp8"], "--page=16"),
    ("gpt2", ["--kv-cache=8", "--page=16", "--kv-dtype=fp3"], "--kv-dtype"),
    ("gpt2", ["--kv-cache=8", "--gpus=2", "--parallel=ddp"], "--parallel"), ("gpt2", ["--kv-cache=8", "--set=use_cache=false"], "use_cache"),
    ("pythia-70m", ["--kv-cache=900000000000", "--sequences=900000000000"], "too large"),
])
def test_what_cannot_be_served_is_told_in_one_line(model, options, words):
    done = run_command("estimate", model, *options)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
