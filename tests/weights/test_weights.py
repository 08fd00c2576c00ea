# SPDX-License-Identifier: MIT
"""Tests `gpumemtrace estimate` of files of weights: its figures must be right to the byte, and it must refuse files
that contradict themselves."""
import json
import struct

import pytest

from support.run import ROOT
from support.weights import gguf, key, one, safetensors, string

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
          "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 10, "max_position_embeddings": 16, "dtype": "float32"}
LAYER = "model.layers.0."
SHAPES = {"model.embed_tokens.weight": [10, 8], LAYER + "input_layernorm.weight": [8], LAYER + "self_attn.q_proj.weight": [8, 8],
          LAYER + "self_attn.k_proj.weight": [4, 8], LAYER + "self_attn.v_proj.weight": [4, 8], LAYER + "self_attn.o_proj.weight": [8, 8],
          LAYER + "post_attention_layernorm.weight": [8], LAYER + "mlp.gate_proj.weight": [12, 8], LAYER + "mlp.up_proj.weight": [12, 8],
          LAYER + "mlp.down_proj.weight": [8, 12], "model.norm.weight": [8], "lm_head.weight": [10, 8]}


def elements(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def tensors(wide=()):
    """Returns all tensors of the model. Tensors whose name is in `wide` are in F32, all other tensors in BF16."""
    return {name: ("F32" if name in wide else "BF16", shape, elements(shape) * (4 if name in wide else 2)) for name, shape in SHAPES.items()}


@pytest.fixture
def estimate(gpumemtrace):
    def estimate(path, *options):
        completed = gpumemtrace("estimate", path, *options, "--json")
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)

    return estimate


def put(folder, files):
    """Writes the files into the folder and returns the folder. If the content of a file is not bytes, it is written as
    JSON."""
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def types(result):
    return {row["type"]: (row["tensors"], row["parameters"], row["bytes"]) for row in result["weights"]["types"]}


# --- files without a config ------------------------------------------------------------------------


def test_weights_alone_are_told_tensor_by_tensor(estimate, tmp_path):
    content = {"a": ("F32", [129], 516), "b": ("BF16", [2, 3, 4, 5, 6], 1440), "c": ("I64", [], 8), "d": ("F8_E4M3", [0], 0), "e": ("F4", [4], 2)}
    result = estimate(put(tmp_path, {"x.safetensors": safetensors(content)}) / "x.safetensors", "--tensors")
    assert result["schema"] == "gpumemtrace.weights/1"
    assert [(row["name"], row["type"], row["bytes"]) for row in result["tensors"]] == [(name, kind, size) for name, (kind, _, size) in content.items()]
    assert types(result)["BF16"] == (1, 720, 1440)
    assert result["load"] == {"requested_bytes": 1966, "allocated_bytes": 1024 + 1536 + 512 + 512, "reserved_bytes": 2 << 20}
    assert any("weights only" in line and "config.json" in line for line in result["assumptions"])


def test_an_index_is_read_with_its_parts(estimate, tmp_path):
    index = {"weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}}
    parts = {"1.safetensors": safetensors({"a": ("F16", [4], 8), "c": ("F16", [2], 4)}), "2.safetensors": safetensors({"b": ("F32", [3], 12)})}
    result = estimate(put(tmp_path, {"model.safetensors.index.json": index, **parts}) / "model.safetensors.index.json")
    assert (result["weights"]["files"], result["weights"]["parameters"], result["weights"]["bytes"]) == (2, 9, 24)
    assert estimate(tmp_path)["weights"] == result["weights"]


# --- files beside a config -------------------------------------------------------------------------


def test_a_folder_of_a_model_has_the_types_of_its_files(estimate, tmp_path):
    wide = [name for name in SHAPES if "norm" in name]
    result = estimate(put(tmp_path, {"config.json": CONFIG, "model.safetensors": safetensors(tensors(wide))}), "--tensors")
    assert result["differences"] == [{"tensor": "(element type)", "described": "float32", "found": "bfloat16"}]
    ours = {row["name"]: row["bytes"] for row in result["tensors"] if row["category"] == "parameters"}
    assert ours == {name: size for name, (_, _, size) in tensors(wide).items()}
    assert result["parameters"] == {"count": sum(map(elements, SHAPES.values())), "bytes": sum(ours.values())}
    whole = estimate(tmp_path, "--dtype=float32")
    assert whole["parameters"]["bytes"] == 4 * whole["parameters"]["count"]


def test_what_differs_between_config_and_files_is_told_by_name(estimate, tmp_path):
    content = {**tensors(), "lm_head.weight": ("BF16", [12, 8], 192), "rope.freqs": ("F32", [4], 16)}
    del content["model.norm.weight"]
    result = estimate(put(tmp_path, {"config.json": CONFIG, "model.safetensors": safetensors(content)}))
    assert result["differences"][1:] == [
        {"tensor": "model.norm.weight", "described": "8", "found": None},
        {"tensor": "lm_head.weight", "described": "10 x 8", "found": "12 x 8, BF16"},
        {"tensor": "rope.freqs", "described": None, "found": "4, F32"},
    ]


def test_a_base_models_file_lacks_the_first_part_of_names(estimate, tmp_path):
    content = {name.removeprefix("model."): value for name, value in tensors().items()}
    result = estimate(put(tmp_path, {"config.json": {**CONFIG, "dtype": "bfloat16"}, "model.safetensors": safetensors(content)}))
    assert not result["differences"]


def test_quantized_weights_take_what_they_take_in_the_file_and_are_not_trained(estimate, tmp_path):
    content = tensors()
    name = LAYER + "mlp.up_proj."
    del content[name + "weight"]
    content.update({name + "qweight": ("I32", [2, 6], 48), name + "scales": ("F16", [1, 12], 24)})
    result = estimate(put(tmp_path, {"config.json": {**CONFIG, "dtype": "bfloat16"}, "model.safetensors": safetensors(content)}), "--tensors")
    assert not result["differences"] and result["settings"]["mode"] == "inference"
    assert {row["bytes"] for row in result["tensors"] if row["name"] == name + "weight"} == {48 + 24}
    assert result["parameters"] == {"count": sum(map(elements, SHAPES.values())), "bytes": sum(size for _, _, size in content.values())}


def test_experts_of_their_own_are_the_tensors_that_hold_all(estimate, tmp_path):
    config = {"model_type": "qwen3_moe", "architectures": ["Qwen3MoeModel"], "hidden_size": 8, "moe_intermediate_size": 6, "num_hidden_layers": 1,
              "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "vocab_size": 10, "num_experts": 3, "num_experts_per_tok": 2, "dtype": "bfloat16"}
    content = {f"layers.0.mlp.experts.{number}.{part}_proj.weight": ("BF16", [8, 6] if part == "down" else [6, 8], 96)
               for number in range(3) for part in ("gate", "up", "down")}
    result = estimate(put(tmp_path, {"config.json": config, "model.safetensors": safetensors(content)}), "--tensors")
    assert not any("experts" in row["tensor"] for row in result["differences"])
    assert [row["bytes"] for row in result["tensors"] if "experts" in row["name"]] == [6 * 96, 3 * 96]


def test_a_config_of_another_model_is_refused_and_one_of_an_unknown_type_is_not_used(estimate, gpumemtrace, tmp_path):
    put(tmp_path, {"config.json": CONFIG, "model.safetensors": safetensors({"other": ("F32", [2], 8)})})
    completed = gpumemtrace("estimate", tmp_path)
    assert completed.returncode == 2 and "none of the 1 tensors" in completed.stderr
    put(tmp_path, {"config.json": {"model_type": "lama"}})
    assert any("not used" in line and "did you mean 'llama'?" in line for line in estimate(tmp_path)["assumptions"])


def test_what_needs_layers_refuses_weights_alone(gpumemtrace, tmp_path):
    path = put(tmp_path, {"x.safetensors": one()}) / "x.safetensors"
    completed = gpumemtrace("compare", tmp_path / "trace.db", path)
    assert completed.returncode == 2 and "put the model's config.json" in completed.stderr


# --- GGUF ------------------------------------------------------------------------------------------


def ggml_types():
    """Yields (number, name, values per block, bytes per block) of each row of gguf_types.def."""
    for line in (ROOT / "analyzer/estimate/weights/gguf_types.def").read_text().splitlines():
        if line.startswith("GGUF_TYPE("):
            number, name, values, size, _ = line[len("GGUF_TYPE("):].rstrip(")").split(", ")
            yield int(number), name.strip('"'), int(values), int(size)


@pytest.mark.parametrize("version", [2, 3])
def test_each_type_of_gguf_has_its_blocks_and_alignment(estimate, tmp_path, version):
    content = [(f"t{number:02}", number, [2 * values, 3], 6 * size) for number, _, values, size in ggml_types()]
    keys = [key("general.alignment", 4, 64), key("general.architecture", 8, "llama"), key("list", 9, struct.pack("<IQ", 8, 2) + string("a") + string("b"))]
    result = estimate(put(tmp_path, {"m.gguf": gguf(content, keys, version=version, alignment=64)}) / "m.gguf", "--tensors")
    assert result["weights"]["architecture"] == "llama"
    assert [(row["type"], row["bytes"], row["shape"]) for row in result["tensors"]] == [
        (name, 6 * size, f"3 x {2 * values}") for _, name, values, size in ggml_types()]


def test_a_part_of_a_gguf_says_so(estimate, tmp_path):
    result = estimate(put(tmp_path, {"m.gguf": gguf([("t", 0, [8], 32)], [key("split.count", 4, 3)])}) / "m.gguf")
    assert any("one of 3 parts" in line for line in result["assumptions"])


# --- files that contradict themselves --------------------------------------------------------------

HUGE = 1 << 62
LIES = {
    "a header longer than allowed": ("s", safetensors({}, length=100_000_001), ["100000001", "at most 100000000"]),
    "a header longer than the file": ("s", safetensors({}, length=4000), ["truncated"]),
    "a file without a length": ("s", b"1234567", ["truncated"]),
    "an empty file": ("s", b"", ["truncated"]),
    "a header that is a list": ("s", safetensors({}, header="[]"), ["not a JSON object"]),
    "a header that is no JSON": ("s", safetensors({}, header="{"), ["not a JSON object"]),
    "a header with NaN": ("s", safetensors({}, header='{"w": NaN}'), ["not a JSON object"]),
    "a name that comes twice": ("s", safetensors({}, header='{"w": 1, "w": 1}'), ["not a JSON object", "duplicate"]),
    "a header of very deep lists": ("s", safetensors({}, header="[" * 100000), ["not a JSON object"]),
    "a tensor that is a number": ("s", safetensors({}, header='{"w": 1}'), ["'w'", "must be an object"]),
    "an unknown type": ("s", one(dtype="F33"), ["'w'", "'F33'"]),
    "no type": ("s", one().replace(b'"dtype"', b'"dtypE"'), ["'w'", "'dtype': nothing"]),
    "more values than can be counted": ("s", one(shape=(HUGE, 4)), ["'w'", "64 bits"]),
    "more bytes than can be counted": ("s", one(dtype="F64", shape=(HUGE,)), ["'w'", "64 bits"]),
    "a negative size": ("s", one(shape=(-1, 6)), ["'w'", "'shape'", "not -1"]),
    "a shape that is a number": ("s", one().replace(b"[2, 3]", b"   6  "), ["'w'", "'shape'"]),
    "too many dimensions": ("s", one(shape=(1,) * 7), ["'w'", "at most 6"]),
    "bytes that the shape does not make": ("s", one(offsets=(0, 20)), ["'w'", "24 bytes"]),
    "an end before its beginning": ("s", one(offsets=(24, 0)), ["'w'", "24 and 0"]),
    "three offsets": ("s", one(offsets=(0, 24, 24)), ["'w'", "two offsets"]),
    "an offset beyond the file": ("s", one(size=20), ["'w'", "end after the file"]),
    "a hole": ("s", one(offsets=(8, 32), size=32), ["'w'", "ends at 0"]),
    "bytes of no tensor": ("s", one(size=25), ["1 bytes after the tensors"]),
    "tensors in each other": ("s", safetensors({}, header=json.dumps(
        {name: {"dtype": "F32", "shape": [2], "data_offsets": [at, at + 8]} for name, at in (("v", 0), ("w", 4))})) + bytes(12), ["'w'", "within"]),
    "half a byte": ("s", one(dtype="F4", shape=(3,), offsets=(0, 1), size=1), ["'w'", "not a whole number of blocks"]),
    "another word than GGUF": ("g", b"GGUG" + bytes(40), ["does not begin"]),
    "a version of later": ("g", gguf([], version=4), ["version is 4"]),
    "a version of before": ("g", gguf([], version=1), ["version is 1"]),
    "the other byte order": ("g", gguf([], version=3 << 24), ["other byte order"]),
    "more tensors than the file has room for": ("g", gguf([], counts=(1 << 63, 0)), ["truncated"]),
    "more keys than the file has": ("g", gguf([], counts=(0, 1)), ["truncated"]),
    "a key that comes twice": ("g", gguf([], [key("a", 4, 1)] * 2), ["'a'", "twice"]),
    "a key of no letters": ("g", gguf([], [key("", 4, 1)]), ["a key has 0 bytes"]),
    "a key with NUL": ("g", gguf([], [key("a\0b", 4, 1)]), ["a key has 3 bytes or a NUL"]),
    "a value of an unknown type": ("g", gguf([], [key("a", 13, 1)]), ["'a'", "unknown type"]),
    "a list of lists": ("g", gguf([], [key("a", 9, struct.pack("<IQ", 9, 1))]), ["'a'", "unknown type"]),
    "a list longer than the file": ("g", gguf([], [key("a", 9, struct.pack("<IQ", 4, 1 << 62))]), ["'a'", "longer"]),
    "a text longer than the file": ("g", gguf([], [string("a") + struct.pack("<IQ", 8, 1 << 62)]), ["truncated"]),
    "an alignment of no power of two": ("g", gguf([], [key("general.alignment", 4, 24)]), ["power of two"]),
    "an alignment of none": ("g", gguf([], [key("general.alignment", 4, 0)]), ["power of two"]),
    "a type that was given up": ("g", gguf([("t", 4, [32], 20)]), ["'t'", "type 4"]),
    "part of a block": ("g", gguf([("t", 2, [16, 2], 18)]), ["'t'", "16 values", "Q4_0 (32)"]),
    "five dimensions": ("g", gguf([("t", 0, [1] * 5, 4)]), ["'t'", "5 dimensions"]),
    "values beyond 64 bits": ("g", gguf([("t", 0, [HUGE, 4], 4)]), ["'t'", "64 bits"]),
    "a tensor that is not aligned": ("g", gguf([("t", 0, [8], 32)], offset=4), ["'t'", "aligned to 32"]),
    "tensors at one place": ("g", gguf([("t", 0, [8], 32), ("u", 0, [8], 32)], offset=0), ["within"]),
    "a tensor beyond the file": ("g", gguf([("t", 0, [8], 32)], cut=1), ["'t'", "end after the file"]),
    "a tensor of a name that is there": ("g", gguf([("t", 0, [8], 32)] * 2), ["'t'", "twice"]),
}


def refused(gpumemtrace, path, parts):
    completed = gpumemtrace("estimate", path)
    assert completed.returncode == 2 and completed.stdout == "", completed.stdout
    assert len(completed.stderr.splitlines()) == 1 and completed.stderr.startswith(f"gpumemtrace: estimate: {path}: "), completed.stderr
    assert not [part for part in parts if part not in completed.stderr], completed.stderr


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_one_line(gpumemtrace, tmp_path, lie):
    kind, content, parts = LIES[lie]
    name = "x.safetensors" if kind == "s" else "x.gguf"
    refused(gpumemtrace, put(tmp_path, {name: content}) / name, parts)


@pytest.mark.parametrize("content, name", [(safetensors(tensors()), "x.safetensors"), (gguf([("t", 12, [256, 4], 576)], [key("a", 8, "b")]), "x.gguf")])
def test_a_file_cut_anywhere_is_refused(gpumemtrace, tmp_path, content, name):
    for length in (1, 5, 8, 9, len(content) // 3, len(content) // 2, len(content) - 1):
        refused(gpumemtrace, put(tmp_path, {name: content[:length]}) / name, [])


BAD_INDEXES = {
    "no map": ({"metadata": {}}, ["'weight_map'"]),
    "a file of another folder": ({"weight_map": {"a": "../x.safetensors"}}, ["'../x.safetensors'", "same folder"]),
    "no name of a file": ({"weight_map": {"a": 1}}, ["name of a file"]),
    "a file that is not there": ({"weight_map": {"a": "y.safetensors"}}, ["No such file"]),
    "a tensor that is not there": ({"weight_map": {"w": "x.safetensors", "v": "x.safetensors"}}, ["'v'", "not in the file"]),
    "a tensor of another file": ({"weight_map": {"w": "z.safetensors", "b": "x.safetensors"}}, ["not in the file"]),
    "a tensor of two files": ({"weight_map": {"w": "x.safetensors", "v": "y"}}, ["'w'", "twice"]),
}


@pytest.mark.parametrize("index", BAD_INDEXES)
def test_an_index_that_lies_is_one_line(gpumemtrace, tmp_path, index):
    content, parts = BAD_INDEXES[index]
    put(tmp_path, {"model.safetensors.index.json": content, "x.safetensors": one(), "y": one(), "z.safetensors": one(name="b")})
    completed = gpumemtrace("estimate", tmp_path / "model.safetensors.index.json")
    assert completed.returncode == 2 and len(completed.stderr.splitlines()) == 1
    assert not [part for part in parts if part not in completed.stderr], completed.stderr


def test_a_folder_without_a_model_is_refused(gpumemtrace, tmp_path):
    refused(gpumemtrace, tmp_path, ["neither config.json nor one file of weights"])
    put(tmp_path, {"a.safetensors": one(), "b.safetensors": one()})
    refused(gpumemtrace, tmp_path, ["name a file of it"])
