# SPDX-License-Identifier: MIT
"""`estimate --quantize`: weights of 4 and 8 bits with their scales. This file adds up their sizes independently."""
import json

import pytest

from support.run import load_json, run_command

IN, OUT = 100, 50
VALUES, BIAS = IN * OUT, 2 * OUT
BLOCKS = -(-VALUES // 64)
BYTES = {"nf4": VALUES // 2 + 4 * BLOCKS + 16 * 4 + BIAS, "nf4-dq": VALUES // 2 + BLOCKS + 16 * 4 + 4 * (-(-BLOCKS // 256)) + 256 * 4 + 4 + BIAS,
         "int8": VALUES + 4 * OUT + BIAS, "none": 2 * VALUES + BIAS}
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
         "intermediate_size": 128, "vocab_size": 500, "max_position_embeddings": 4096, "dtype": "bfloat16"}


@pytest.fixture
def write(tmp_path):
    def write(model):
        path = tmp_path / "model.json"
        path.write_text(json.dumps(model))
        return path

    return write


@pytest.mark.parametrize("how", BYTES)
def test_the_bytes_of_a_layer_are_those_of_bitsandbytes(write, how):
    model = write({"schema": "gpumemtrace.model/1", "input": [IN], "dtype": "bfloat16", "layers": [{"type": "Linear", "out": OUT}]})
    found = load_json("estimate", model, f"--quantize={how}")
    assert found["load"]["requested_bytes"] == BYTES[how]
    assert found["parameters"]["count"] == VALUES + OUT


@pytest.mark.parametrize(("keys", "how"), [({"load_in_4bit": True}, "nf4"), ({"load_in_8bit": True, "quant_method": "bitsandbytes"}, "int8"),
                                           ({"load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4-dq")])
def test_a_config_says_it_too_and_the_option_wins(write, keys, how):
    plain = write(LLAMA)
    asked = {word: load_json("estimate", plain, "--inference", f"--quantize={word}")["peak"] for word in (how, "none")}
    config = write({**LLAMA, "quantization_config": keys})
    assert load_json("estimate", config, "--inference")["peak"] == asked[how] != asked["none"]
    assert load_json("estimate", config, "--inference", "--quantize=none")["peak"] == asked["none"]


def test_the_head_stays_and_adapters_are_trained(write):
    model = write(LLAMA)
    whole, quantized = (load_json("estimate", model, *options, "--lora=8") for options in ([], ["--quantize=nf4"]))
    assert whole["parameters"]["count"] == quantized["parameters"]["count"]
    assert whole["categories"]["optimizer"] == quantized["categories"]["optimizer"] > 0
    per_layer = 4 * 64 * 64 + 3 * 64 * 128
    saved = 2 * per_layer * 2 - 2 * (per_layer // 2 + per_layer // 64 * 4 + 7 * 16 * 4)
    assert whole["load"]["requested_bytes"] - quantized["load"]["requested_bytes"] == saved


def test_a_product_works_on_a_copy_in_the_models_type(write):
    model = write({"schema": "gpumemtrace.model/1", "input": [IN], "dtype": "bfloat16", "batch": 2, "layers": [{"type": "Linear", "out": OUT}]})
    found = load_json("estimate", model, "--quantize=nf4", "--inference")
    assert found["peak"]["requested_bytes"] == BYTES["nf4"] + 2 * VALUES + 2 * 2 * (IN + OUT)
    row = load_json("estimate", model, "--quantize=nf4", "--inference", "--batch=1")
    forward, = (one["peak_bytes"] for one in row["phases"] if one["name"] == "forward")
    assert forward == BYTES["nf4"] + 2 * (IN + OUT)
    assert row["peak"]["requested_bytes"] == BYTES["nf4"] + 2 * VALUES  # loading: the weight as a whole beside its 4 bits


def test_another_method_is_told_and_another_word_refused(write):
    found = load_json("estimate", write({**LLAMA, "quantization_config": {"quant_method": "gptq", "bits": 4}}))
    assert any("quantization_config" in text for text in found["assumptions"])
    done = run_command("estimate", "gpt2", "--quantize=nf3")
    assert done.returncode == 2 and "nf4-dq" in done.stderr
