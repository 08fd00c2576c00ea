# SPDX-License-Identifier: MIT
"""`gpumemtrace estimate`: the published figures that it must reproduce, and its messages for bad input."""
import json
import re

import pytest

from support.run import ROOT

SAMPLES = ROOT / "samples"
LINEAR = {"type": "Linear", "in": 32, "out": 16, "bias": False}


def model(*layers, **fields):
    return {"schema": "gpumemtrace.model/1", "input": [32], "layers": list(layers) or [LINEAR],
            **fields}


# --- figures ---------------------------------------------------------------------------------------


def test_vgg16_has_the_published_parameters_and_values(estimate):
    result = estimate(SAMPLES / "vgg16.json")
    assert result["parameters"] == {"count": 138_357_544, "bytes": 4 * 138_357_544}
    assert result["forward_values"] == 15_237_608


def test_vgg16_keeps_73334688_bytes_of_an_image_for_backward(estimate):
    assert estimate(SAMPLES / "vgg16.json")["kept_for_backward_bytes"] == 73_334_688
    assert estimate(SAMPLES / "vgg16.json", "--batch=8")["kept_for_backward_bytes"] == 8 * 73_334_688


def test_the_fully_connected_example_is_textbooks_and_pytorchs(estimate):
    result = estimate(SAMPLES / "linear-example.json")
    assert result["rule_of_thumb_bytes"] == 4 * (100 * 32 + 32 * 16 + 100 * 16) == 21_248
    assert result["peak"]["requested_bytes"] == 21_312
    assert result["peak"]["allocated_bytes"] == 22_016
    assert any("the unit is wrong: it is 20.75 KiB" in line for line in result["assumptions"])


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


SAME = {"amp": None, "accumulation": 1, "checkpointing": 0, "selective": False, "checkpointing_every": 1, "logits": "kept", "torch": None, "gpus": 1, "parallel": None, "param_dtype": None, "reduce_dtype": None, "reshard": None}


def test_options_override_the_file_and_the_file_the_defaults(estimate):
    default = estimate(model())["settings"]
    assert default == {"mode": "training", "batch": 1, "dtype": "float32", "optimizer": "adamw", **SAME}
    source = model(batch=5, dtype="fp16", optimizer="sgd")
    assert estimate(source)["settings"] == {
        "mode": "training", "batch": 5, "dtype": "float16", "optimizer": "sgd", **SAME}
    assert estimate(source, "--batch=6", "--dtype=bf16", "--optimizer=adam")["settings"] == {
        "mode": "training", "batch": 6, "dtype": "bfloat16", "optimizer": "adam", **SAME}


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
                       (ROOT / "analyzer/estimate/model/ignored_fields.def").read_text(), re.M)
    plain = {"type": "BatchNorm1d", "features": 32}
    assert estimate(model({**plain, **dict.fromkeys(names, 1)})) == estimate(model(plain))
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    assert names and all(f"`{name}`" in document for name in names)


def test_every_layer_type_field_and_optimizer_is_documented():
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    folder = ROOT / "analyzer" / "estimate"
    types = re.findall(r"^LAYER\((\w+),", (folder / "layer/layers.def").read_text(), re.M)
    fields = re.findall(r'^FIELD\((\w+),[^"]*"([^"]*)"', (folder / "layer/fields.def").read_text(), re.M)
    names = re.findall(r'^OPTIMIZER\([^"]*"([^",]+)', (folder / "model/optimizers.def").read_text(), re.M)
    assert len(types) > 30 and len(fields) > 15 and len(names) > 5
    aliases = [alias for _, listed in fields for alias in listed.split(",") if alias]
    for name in types + [field for field, _ in fields] + aliases + names:
        assert f"`{name}`" in document or f"`{name}`:" in document, name


def test_every_setting_stands_in_the_manual_as_in_its_list(estimate):
    rows = re.findall(r'^SETTING\((\w+),\s*"[\w-]+",[^"]*"\w+",\s*"([^"]*)",\s*"([^"]*)",\s*"([^"]*)"\)',
                      (ROOT / "analyzer/estimate/model/settings.def").read_text(), re.M)
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    assert len(rows) > 4
    for name, standard, unit, effect in rows:
        assert f"| `{name}` | {standard} | {unit}{' ' if unit else ''}| {effect} |" in document


def test_every_tuning_stands_in_the_manual_as_in_its_list():
    rows = re.findall(r'^TUNING\(\w+,\s*\w+,\s*"([^"]*)",\s*"[^"]*",\s*"([^"]*)",\s*"([^"]*)",\s*"([^"]*)"\)',
                      (ROOT / "analyzer/estimate/model/tuning.def").read_text(), re.M)
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    assert len(rows) > 3
    for name, standard, unit, effect in rows:
        assert f"| `--{name}` | {standard} | {unit}{' ' if unit else ''}| {effect} |" in document


SMALL_LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64,
               "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 32}


def test_attention_is_of_the_kind_that_the_option_says(estimate):
    def saved(*options):
        return next(row for row in estimate(SMALL_LLAMA, *options)["layers"] if row["type"] == "Attention")["saved_bytes"]

    assert saved("--attention=eager") == saved("--set=eager=true") > saved() == saved("--attention=flash")


def test_a_setting_of_the_file_is_overridden_by_its_option(estimate):
    description = model({"type": "Linear", "out": 32}, amp="bfloat16", accumulation=2)
    assert estimate(description)["settings"]["amp"] == "bfloat16"
    settings = estimate(description, "--amp=float16", "--accumulation=3", "--checkpointing=2")["settings"]
    assert [settings[name] for name in ("amp", "accumulation", "checkpointing")] == ["float16", 3, 2]


def test_a_table_of_up_to_60_layers_is_shown_and_a_longer_one_when_asked_for(gpumemtrace, write):
    def shown(count, *options):
        path = write(model(*[{"type": "Linear", "out": 32}] * count))
        return gpumemtrace("estimate", path, *options).stdout.count("  Linear  ")

    assert shown(60) == 60
    assert shown(61) == 0
    assert shown(61, "--layers") == 61


def test_json_has_every_layer_however_many(estimate):
    assert len(estimate(model(*[{"type": "Linear", "out": 32}] * 200))["layers"]) == 200


# --- Hugging Face ----------------------------------------------------------------------------------

PUBLISHED = {"bert-base": 109_482_240, "gpt2": 124_439_808, "llama-2-7b": 6_738_415_616, "llama-3-8b": 8_030_261_248,
             "vit-base-patch16-224": 86_567_656, "vgg16": 138_357_544, "resnet50": 25_557_032, "mixtral-8x7b": 46_702_792_704,
             "deepseek-v2-lite": 15_706_484_224, "gemma-2-2b": 2_614_341_888, "t5-small": 60_506_624, "whisper-tiny": 37_760_640,
             "mobilenet_v2": 3_504_872, "densenet121": 7_978_856, "efficientnet_b0": 5_288_548, "convnext_tiny": 28_589_128,
             "unet": 31_037_698}


@pytest.mark.parametrize("name, count", PUBLISHED.items(), ids=PUBLISHED)
def test_a_model_that_is_known_by_name_has_its_published_parameters(estimate, name, count):
    result = estimate(name)
    assert result["parameters"]["count"] == count and result["model"]["kind"] == "name"
    assert not any("The config lacks" in line for line in result["assumptions"])


def test_a_name_stands_for_a_config_which_options_change(estimate):
    assert estimate("ResNet50")["layers"] == estimate("resnet50")["layers"]
    small = estimate("resnet50", "--set=num_classes=10,image_size=64")
    assert small["parameters"]["count"] == 25_557_032 - 990 * 2049 and small["layers"][0]["output"] == "64 x 32 x 32"
    assert estimate("llama-3-8b", "--set=sequence=8")["settings"]["dtype"] == "bfloat16"


def test_a_file_of_that_name_is_the_file(gpumemtrace, write, tmp_path):
    write(model()).rename(tmp_path / "resnet50")
    completed = gpumemtrace("estimate", "resnet50", "--json", cwd=tmp_path)
    assert json.loads(completed.stdout)["parameters"]["count"] == 512


def test_an_unknown_name_gets_a_suggestion_and_help_lists_all(gpumemtrace):
    for name, part in (("resnet5", "did you mean 'resnet50'?"), ("lama-3-8b", "did you mean 'llama-3-8b'?"), ("nothing-like-it", "no such file")):
        refused = gpumemtrace("estimate", name)
        assert refused.returncode == 2 and part in refused.stderr and len(refused.stderr.splitlines()) == 1
    listed = set(re.findall(r"[\w.-]+", gpumemtrace("help", "models").stdout))
    names = [name for path in (ROOT / "analyzer/estimate/families").glob("*.json") for name in json.loads(path.read_text()).get("names", ())]
    assert len(names) > 100 and set(names) <= listed and len(set(names)) == len(names)


SMALL = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 24,
         "vocab_size": 50}


def test_tensors_have_the_names_and_shapes_that_the_library_gives_them(estimate):
    rows = estimate({**SMALL, "num_key_value_heads": 2}, "--tensors")["tensors"]
    shapes = {row["name"]: row["shape"] for row in rows if row["category"] == "parameters"}
    assert shapes == {
        "embed_tokens.weight": "50 x 16", "layers.0.input_layernorm.weight": "16",
        "layers.0.self_attn.q_proj.weight": "16 x 16", "layers.0.self_attn.k_proj.weight": "8 x 16",
        "layers.0.self_attn.v_proj.weight": "8 x 16", "layers.0.self_attn.o_proj.weight": "16 x 16",
        "layers.0.post_attention_layernorm.weight": "16", "layers.0.mlp.gate_proj.weight": "24 x 16",
        "layers.0.mlp.up_proj.weight": "24 x 16", "layers.0.mlp.down_proj.weight": "16 x 24", "norm.weight": "16"}


def test_a_config_says_type_and_class_and_options_override_the_class(estimate):
    base = estimate(SMALL)
    with_head = estimate({**SMALL, "architectures": ["LlamaForCausalLM"], "dtype": "float16"})
    assert with_head["settings"]["dtype"] == "float16"
    assert with_head["parameters"]["count"] == base["parameters"]["count"] + 50 * 16
    again = estimate(SMALL, "--set=architecture=LlamaForCausalLM")
    assert again["parameters"]["count"] == with_head["parameters"]["count"]


def test_a_key_that_is_missing_or_null_has_the_value_of_the_family(estimate):
    assert estimate({**SMALL, "head_dim": None})["layers"] == estimate({**SMALL, "head_dim": 4})["layers"]


def test_a_longer_sequence_costs_more_and_composed_attention_its_square(estimate):
    def kept(*words):
        return estimate(SMALL, f"--set={','.join(words)}")["kept_for_backward_bytes"]

    assert kept("sequence=128") == 2 * kept("sequence=64")
    added = [kept(f"sequence={length}", "eager=true") - kept(f"sequence={length}") for length in (64, 128)]
    # The scores of 4 heads, minus the 4 sums of each row.
    assert [4 * 4 * length * (length - 1) for length in (64, 128)] == added


def test_a_size_that_the_config_lacks_and_a_quantization_stand_in_the_answer(estimate):
    said = " ".join(estimate({**SMALL, "vocab_size": None, "quantization_config": {"bits": 4}})["assumptions"])
    assert "The config lacks vocab_size (32000), max_position_embeddings (2048)" in said
    assert "Not modelled: quantization_config." in said
    said = " ".join(estimate({**SMALL, "max_position_embeddings": 64})["assumptions"])
    assert "lacks" not in said and "quantization_config" not in said


def test_a_key_that_is_nearly_a_size_that_the_config_lacks_is_named(estimate):
    said = " ".join(estimate({**SMALL, "vocab_size": None, "vocab_sise": 100, "pos_embeddings": 64})["assumptions"])
    assert "The config lacks vocab_size (32000; is it 'vocab_sise'?), max_position_embeddings (2048)" in said


def test_a_result_that_nobody_reads_is_told(estimate):
    first, second = {"type": "Linear", "name": "first", "out": 8}, {"type": "Linear", "name": "second", "out": 8, "from": "input"}
    told = "No layer reads the result of layer 0 (Linear) first: it is dropped at once."
    assert told in estimate(model({"layers": [first, second]}))["assumptions"]
    both = {"type": "Add", "from": ["first", "second"]}
    assert not any("No layer reads" in line for line in estimate(model({"layers": [first, second, both]}))["assumptions"])


def test_a_share_is_given_like_any_dimension(estimate):
    config = {"model_type": "gpt2", "n_layer": 1}
    kept = [estimate(config, f"--set=resid_pdrop={share}")["kept_for_backward_bytes"] for share in (0.0, 0.1, 0.5)]
    assert kept[0] < kept[1] == kept[2]


# The number of values that autograd keeps per element, besides input and result, counted with saved_tensors_hooks.
KEPT_BY = {"gelu": 0, "gelu_pytorch_tanh": 0, "quick_gelu": 1, "gelu_new": 3, "gelu_fast": 6, "swish": 0}


@pytest.mark.parametrize("name, kept", KEPT_BY.items(), ids=KEPT_BY)
def test_an_activation_of_a_config_keeps_what_autograd_keeps(estimate, name, kept):
    config = {**SMALL, "model_type": "gpt_neox", "hidden_act": name, "max_position_embeddings": 8}
    rows = [row for row in estimate(config)["layers"] if row["name"] == "layers.0.mlp.act"]
    assert rows[0]["saved_bytes"] == (1 + kept) * rows[0]["output_bytes"]


def test_what_a_family_does_not_model_stands_in_its_answer(estimate):
    assert any(line.startswith("Not modelled: ") for line in estimate(SMALL)["assumptions"])


def test_a_file_can_be_like_a_family(estimate):
    ours = {"schema": "gpumemtrace.model/1", "like": "llama", "dimensions": {
        key: value for key, value in SMALL.items() if key != "model_type"}}
    assert estimate(ours)["layers"] == estimate(SMALL)["layers"]


def test_a_key_of_the_config_that_is_a_word_of_the_family_only_changes_nothing(estimate):
    words = {"sequence": 5, "eager": True, "body": "mine", "qk_norm": True, "experts": 7, "writes_text": True}
    assert estimate({**SMALL, **words})["layers"] == estimate(SMALL)["layers"]
    assert estimate(SMALL, "--set=qk_norm=true")["layers"] != estimate(SMALL)["layers"]


def test_null_means_none_where_the_class_says_so(estimate):
    config = {"model_type": "deepseek_v3", "num_hidden_layers": 1}
    names = [{row["name"] for row in estimate({**config, "q_lora_rank": rank}, "--tensors")["tensors"]} for rank in (None, 16)]
    assert "layers.0.self_attn.q_proj.weight" in names[0] and "layers.0.self_attn.q_a_proj.weight" in names[1]


def test_of_a_model_that_reads_more_than_text_its_text_config_is_counted(estimate):
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    result = estimate({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "torch_dtype": "bfloat16",
                       "text_config": text}, "--set=sequence=16")
    assert result["parameters"]["count"] == 3_880_263_168 and result["settings"]["dtype"] == "bfloat16"
    assert any("Only text_config is counted" in line for line in result["assumptions"])


def test_a_mistyped_dimension_of_a_file_that_is_like_a_family_is_refused(estimate, refused):
    ours = {"schema": "gpumemtrace.model/1", "like": "qwen3", "dimensions": {"hiden_size": 64}}
    refused(ours, "'hiden_size'", "nothing uses it", "did you mean 'hidden_size'?")
    used = {**ours, "dimensions": {"hiden_size": 64, "hidden_size": "hiden_size"}, "config": {"num_hidden_layers": 1}}
    assert estimate(used)["parameters"]["count"] > 0
    refused({**used, "config": {"hidden_size": 64}}, "'hidden_size'", "in both 'config' and 'dimensions'")


def test_each_token_costs_a_row_for_each_expert_that_it_goes_through(estimate):
    def kept(active):
        config = {"model_type": "mixtral", "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 4,
                  "num_key_value_heads": 4, "intermediate_size": 24, "vocab_size": 50, "num_experts_per_tok": active, "max_position_embeddings": 8}
        return next(row["saved_bytes"] for row in estimate(config)["layers"] if row["name"] == "layers.0.mlp.experts")

    # Input and output have width 16. Gate and up (one tensor), activation and product have 24. Add two int64 numbers.
    assert kept(3) - kept(2) == 8 * (4 * (2 * 16 + 4 * 24) + 2 * 8)


@pytest.mark.parametrize("name, loaded", [("vit_b_16", 346_270_720), ("vit_l_16", 1_218_453_504)])
def test_a_model_takes_what_pytorch_counts_when_it_is_moved(estimate, name, loaded):
    """The figures are memory_allocated() after model.cuda(), which moves children before a module's own tensors."""
    assert estimate(name)["load"]["allocated_bytes"] == loaded


def test_a_model_comes_from_standard_input(gpumemtrace):
    completed = gpumemtrace("estimate", "-", "--json", input=json.dumps(SMALL))
    assert completed.returncode == 0 and json.loads(completed.stdout)["model"]["kind"] == "config.json"
    refused = gpumemtrace("estimate", "-", input="{")
    assert refused.returncode == 2 and "standard input: not a model description" in refused.stderr


def test_every_family_is_documented_and_has_a_row():
    document = (ROOT / "include/gpumemtrace/MODEL-FORMAT.md").read_text()
    rows = re.findall(r"^FAMILY\((\w+)\)", (ROOT / "analyzer/estimate/model/families.def").read_text(), re.M)
    files = {path.stem for path in (ROOT / "analyzer/estimate/families").glob("*.json")}
    assert files == set(rows) and all(f"`{name}`" in document for name in rows)


def test_repeated_blocks_count_in_their_names_and_know_the_block_around_them(estimate):
    inner = {"name": "part{outer}{index + 1}", "repeat": 2, "layers": [{"type": "Linear", "name": "fc", "out": "10 * outer + index + 1"}]}
    plain = {"name": "", "repeat": 2, "layers": [{"type": "Linear", "name": "last", "out": 3}]}
    rows = estimate(model({"repeat": 2, "layers": [inner]}, plain))["layers"]
    assert [row["name"] for row in rows] == ["part01.fc", "part02.fc", "part11.fc", "part12.fc", "0.last", "1.last"]
    assert [row["output"] for row in rows[:4]] == ["1", "2", "11", "12"]


BAD_SETS = {"--set=sequence": "NAME=VALUE", "--set==3": "NAME=VALUE", "--set=seqence=3": "did you mean 'sequence'?",
            "--set=sequence=0": "'input'", "--set=architecture=LlamaForAll": "known are LlamaModel",
            "--set=sequence=4611686018427387904": "'input'"}


@pytest.mark.parametrize("option, part", BAD_SETS.items(), ids=BAD_SETS)
def test_a_bad_dimension_is_refused_in_one_line(refused, option, part):
    refused(SMALL, part, options=[option])


# --- bad input -------------------------------------------------------------------------------------

BAD_LAYERS = {
    "no object": (5, ["layer 1", "an object, not 5"]),
    "no type": ({"in": 3}, ["layer 1", "'type'", "missing"]),
    "type of a wrong kind": ({"type": 3}, ["layer 1", "'type'", "not 3"]),
    "unknown type": ({"type": "Linaer"}, ["layer 1", "'Linaer'"]),
    "missing field": ({"type": "Linear"}, ["layer 1 (Linear)", "'out'", "missing"]),
    "unknown field": ({"type": "Linear", "out": 1, "bais": True}, ["layer 1 (Linear)", "'bais'", "did you mean 'bias'?"]),
    "unknown field of a block": ({"repeta": 2, "layers": [LINEAR]}, ["layer 1", "'repeta'", "did you mean 'repeat'?"]),
    "field of another type": ({"type": "ReLU", "kernel": 3}, ["layer 1 (ReLU)", "'kernel'"]),
    "text that is no expression": ({"type": "Linear", "out": "sixteen"}, ["'out'", "'sixteen' is not a dimension of"]),
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
    "an order that names a dimension twice": ({"type": "Permute", "order": [0, 0]}, ["'order'", "each of 1 dimensions once"]),
    "an order of more dimensions": ({"type": "Permute", "order": [0, 1]}, ["'order'", "each of 1 dimensions once"]),
    "a part beyond the end": ({"type": "Part", "out": 1 << 31}, ["'out'", "2147483648, which is not a part of a width of 1073741824"]),
    "more experts than there are": ({"type": "Experts", "num": 2, "hidden": 4, "active": 3}, ["'active'", "3 of 2 experts"]),
    "a share of branches without one": ({"type": "StochasticDepth"}, ["'p'", "missing"]),
    "a text that is neither true nor false": ({"type": "Linear", "out": 1, "bias": "'yes'"}, ["'bias'", "'yes' is neither true nor"]),
    "an object without the member's name": ({"type": "Linear", "out": "get(1, 'a', 2)"}, ["'out'", "its form is get(object"]),
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
    "unknown key": (model(bacth=3), ["'bacth'", "a model has schema, name, input, batch", "did you mean 'batch'?"]),
    "batch of zero": (model(batch=0), ["'batch'", "not 0"]),
    "batch as text": (model(batch="3"), ["'batch'", "integer"]),
    "unknown dtype": (model(dtype="float8"), ["'dtype'", "float8", "float32"]),
    "unknown optimizer": (model(optimizer="adamu"), ["'optimizer'", "known are sgd", "did you mean 'adam'?"]),
    "training as number": (model(training=1), ["'training'", "true or false"]),
    "name as number": (model(name=1), ["'name'", "text"]),
    "a list": ("[]", ["outermost value"]),
    "no JSON": ("layers: 3", ["line 1"]),
    "empty": ("", ["line 1"]),
    "cut off": (json.dumps(model())[:-1], ["line 1"]),
    "a key twice": ('{"schema": "gpumemtrace.model/1", "input": [1], "input": [2]}', ["line 1"]),
    "a number beyond 64 bits": (json.dumps(model(batch=1 << 70)), ["line 1"]),
    "a dimension of a repetition": (model({"repeat": 2, "layers": [{"type": "Linear", "out": "width"}]},
                                          dimensions={"width": "8 + index"}), ["'width'", "'index' is known in the layers"]),
    "the block around a block that is in none": (model({"repeat": 2, "layers": [{"type": "Linear", "out": "outer + 1"}]}),
                                                 ["'outer' is known in the layers of a repeated block within another"]),
    "a config of an unknown family": ({"model_type": "lama", "hidden_size": 1},
                                      ["'lama'", "did you mean 'llama'?", "known are", "qwen3"]),
    "a text for a flag of a config": ({"model_type": "bert", "architectures": ["BertLMHeadModel"], "tie_word_embeddings": "yes"}, ["must be true or false, not 'yes'"]),
    "a division by zero": (model({"type": "Linear", "out": "4 / 0"}), ["'4 / 0': division by zero\n"]),
    "a text_config of an unknown family": ({"model_type": "llava9", "text_config": {"model_type": "lama"}}, ["'llava9'", "known are"]),
    "a text_config that is none": ({"model_type": "llava9", "text_config": [1]}, ["'llava9'", "known are"]),
    "a config without its type": ({"hidden_size": 1}, ["'model_type'", "missing"]),
    "a config of an unknown class": ({"model_type": "bert", "architectures": ["BertForAll"]},
                                     ["'BertForAll'", "--set=architecture=NAME", "BertModel", "BertForMultipleChoice"]),
    "an unknown activation": ({"model_type": "bert", "hidden_act": "gulu"}, ["'type'", "'gulu'", "did you mean 'gelu'?"]),
    "a class as text": ({"model_type": "bert", "architectures": "BertModel"}, ["'architectures'", "list of names"]),
    "a config of an unknown dtype": ({"model_type": "bert", "torch_dtype": "float8"}, ["'torch_dtype'", "'float8'"]),
    "a dtype as number": ({"model_type": "bert", "dtype": 16}, ["'dtype'", "must be a text, not 16"]),
    "a size of a config with a fraction": ({"model_type": "llama", "hidden_size": 4096.5}, ["'hidden_size'", "integer", "not 4096.5"]),
    "a config of a size that no layer has": ({"model_type": "llama", "hidden_size": 1}, ["rotary_emb", "'shape'", "from 1"]),
}


@pytest.mark.parametrize("content, parts", BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_bad_model_is_refused_in_one_line_that_names_the_file(refused, content, parts):
    refused(content, "model.json: ", *parts)


def test_a_file_that_is_no_model_is_refused(refused, tmp_path):
    refused(tmp_path / "missing.json", "missing.json", "No such file")
    refused(tmp_path, "neither config.json nor one file of weights")
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
    "--gpus=0": "--gpus",
    "--gpus=8": "needs --parallel=HOW",
    "--parallel=ddp": "needs --gpus=N",
    "--parallel=megatron": "'megatron' is not estimated; known are none, dp, dp-other, ddp,",
    "--param-dtype=bfloat16": "needs --parallel=fsdp2",
    "--reduce-dtype=float33": "'float33'",
    "--reshard=sometimes": "'sometimes'",
    "--logits=gone": "kept, dropped or chunked, not 'gone'",
    "--nccl=1GiB": "needs --gpus=N",
}


@pytest.mark.parametrize("option, part", BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(refused, option, part):
    refused(model(), part, options=[option])


def test_a_batch_that_overflows_is_refused_with_the_layer(refused):
    refused(model(), "layer 0 (Linear)", "64 bits", options=[f"--batch={1 << 60}"])


def test_inplace_on_what_backward_needs_is_refused_as_pytorch_does(refused):
    refused(model({"type": "Linear", "out": 8}, {"type": "Tanh"},
                  {"type": "ReLU", "inplace": True}), "layer 2 (ReLU)", "'inplace'")


def test_products_with_a_models_own_parameters_may_be_many(estimate):
    """No layer's node saves such a parameter. A list of saved tensors that grows for it must not get lost."""
    parameters = [{"type": "Parameter", "name": f"scale{i}", "shape": [16]} for i in range(40)]
    products = [{"type": "Mul", "from": [f"product{i - 1}" if i else "linear", f"scale{i}"], "name": f"product{i}"} for i in range(40)]
    found = estimate(model(*parameters, {**LINEAR, "name": "linear"}, *products))
    assert found["kept_for_backward_bytes"] == 32 * 4 + 40 * 16 * 4 + 16 * 4, "and the model's result"


def test_an_operation_keeps_what_the_file_says(estimate):
    def kept(**fields):
        layers = LINEAR, {"type": "Operation", "shape": [3, 5], **fields}, {"type": "Operation", "shape": [1]}
        return estimate(model(*layers), "--batch=2")["kept_for_backward_bytes"]

    own = kept()
    assert own == 2 * (32 + 1) * 4, "the input, and the model's result"
    assert kept(keeps_inputs=1) == own + 2 * 16 * 4
    assert kept(keeps_result=True, kept=7) == own + 2 * 3 * 5 * 4 + 2 * 7
