# SPDX-License-Identifier: MIT
"""GPUs that share the layers of a model by tensors, tokens, experts or blocks. Also tests experts with a limited number
of rows."""
import json

import pytest

from support.run import load_json, run_command

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
         "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1000, "use_cache": False}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 8, "num_experts_per_tok": 2,
           "head_dim": 32}
RUN = ("--batch=2", "--set=sequence=128")


@pytest.fixture(name="estimate")
def fixture_estimate(tmp_path):
    def estimate(config, *options):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return load_json("estimate", path, *RUN, *options)

    return estimate


def test_of_tensor_parallelism_a_rank_has_its_part_of_products_and_vocabulary_and_all_norms(estimate):
    """The embedding and the head have V h elements each, a block has 2 h h + 2 h h/2 + 3 h f, and a norm has h. Each of
    4 ranks has all norms and a quarter of all other elements."""
    products = 2 * 1000 * 256 + 4 * (3 * 256 * 256 + 3 * 256 * 512)
    assert estimate(LLAMA)["parameters"]["count"] == products + 9 * 256
    assert estimate(LLAMA, "--tensor-parallel=4")["parameters"]["count"] == products // 4 + 9 * 256


def test_what_a_rank_saves_is_a_part_inside_of_blocks_and_all_of_it_between_them(estimate):
    """Tensors inside attention and mlp are halved. The outputs of norms and the inputs of products are halved only if
    the ranks also share tokens."""
    kept = [estimate(LLAMA, *options)["kept_for_backward_bytes"]
            for options in ([], ["--tensor-parallel=2"], ["--tensor-parallel=2", "--sequence-parallel=true"])]
    assert 0.5 * kept[0] < kept[2] < kept[1] < kept[0]


def test_of_expert_parallelism_a_rank_has_its_part_of_the_experts(estimate):
    experts = 4 * 8 * 3 * 256 * 512
    alone = estimate(MIXTRAL)["parameters"]["count"]
    assert estimate(MIXTRAL, "--expert-parallel=4")["parameters"]["count"] == alone - experts * 3 // 4


def test_the_first_stage_of_a_pipeline_has_the_first_blocks_and_holds_a_batch_for_each_stage(estimate):
    block = 3 * 256 * 256 + 3 * 256 * 512 + 2 * 256
    stage = estimate(LLAMA, "--pipeline-parallel=2", "--accumulation=8")
    assert stage["parameters"]["count"] == 1000 * 256 + 2 * block
    alone = estimate(LLAMA, "--pipeline-parallel=2")
    forward = [{phase["name"]: phase["peak_bytes"] for phase in result["phases"]} for result in (alone, stage)]
    assert forward[1]["backward"] - forward[0]["backward"] >= alone["kept_for_backward_bytes"]


def experts(**fields):
    return {"schema": "gpumemtrace.model/1", "input": [8, 4], "batch": 8, "layers": [
        {"type": "Linear", "out": 4, "name": "tokens"}, {"type": "Linear", "out": 6, "name": "scores"},
        {"type": "Experts", "from": ["tokens", "scores"], "num": 6, "hidden": 8, "active": 2, **fields}]}  # fmt: skip


def test_experts_with_a_capacity_have_rows_of_it_and_else_one_for_each_token_that_comes(tmp_path):
    """64 tokens x 2 experts are 128 rows. With a capacity of 1.25 times an even share, each of 6 experts has room for
    27 rows, which makes 162 rows. Each row saves 176 bytes."""
    path = tmp_path / "model.json"
    kept = []
    for fields in ({}, {"capacity": 125}):
        path.write_text(json.dumps(experts(**fields)))
        kept.append(load_json("estimate", path)["kept_for_backward_bytes"])
    assert kept[1] - kept[0] == (162 - 128) * 176


def test_experts_with_a_bias_have_one_for_each_column_of_both_weights(tmp_path):
    path = tmp_path / "model.json"
    rows = []
    for fields in ({}, {"bias": True}):
        path.write_text(json.dumps(experts(**fields)))
        rows.append({row["name"]: row["shape"] for row in load_json("estimate", path, "--tensors")["tensors"]})
    added = {name: shape for name, shape in rows[1].items() if name not in rows[0]}
    assert sorted(added.values()) == ["6 x 16", "6 x 4"] and all(name.endswith("_proj_bias") for name in added)


@pytest.mark.parametrize(("model", "option", "said"), [
    ("llama-3-8b", "--tensor-parallel=0", "'0' is not an integer from 1 to 1024"),
    ("llama-3-8b", "--capacity=nan", "'nan' is not a number"),
    ("llama-3-8b", "--sequence-parallel=true", "needs --tensor-parallel=N"),
    ("gpt2", "--tensor-parallel=2", "'tensor_parallel' is not a dimension of the model"),
])  # fmt: skip
def test_a_group_that_is_not_estimated_is_refused_in_one_line(model, option, said):
    completed = run_command("estimate", model, option, check=False)
    assert completed.returncode == 2 and said in completed.stderr and completed.stderr.count("\n") == 1
