# SPDX-License-Identifier: MIT
"""`gpumemtrace estimate --gpus=N --parallel=HOW`: the estimate for one of several GPUs. It is compared with a published
run."""
import json

import pytest

from support.run import load_json, run_command

SHARED = {"schema": "gpumemtrace.model/1", "input": [128], "gpus": 4, "parallel": "fsdp2", "param_dtype": "bf16", "reduce_dtype": "fp32",
          "layers": [{"name": "h", "repeat": 2, "layers": [{"type": "Linear", "out": 128, "bias": False}]}]}


@pytest.fixture
def write(tmp_path):
    def write():
        path = tmp_path / "model.json"
        path.write_text(json.dumps(SHARED))
        return path

    return write


def test_of_several_gpus_each_figure_is_of_one(write):
    """The weights have 2 x 64 KiB. Each of four ranks has a quarter of the rows of each weight."""
    result = load_json("estimate", write())
    assert result["parameters"] == {"count": 2 * 128 * 128, "bytes": 2 * 65536}
    assert result["load"]["requested_bytes"] == 2 * 65536 // 4
    assert {key: result["settings"][key] for key in ("gpus", "parallel", "param_dtype", "reduce_dtype", "reshard")} == {
        "gpus": 4, "parallel": "fsdp2", "param_dtype": "bfloat16", "reduce_dtype": "float32", "reshard": "auto"}
    assert any("for one GPU" in text for text in result["assumptions"]) and any("fully_shard" in text for text in result["assumptions"])
    plain = result["peak"]
    given = load_json("estimate", write(), "--nccl=100MiB", "--context=300MiB")["peak"]
    assert given["nccl_bytes"] == 100 << 20 and plain["nccl_bytes"] is None
    assert given["device_bytes"] == plain["reserved_bytes"] + (400 << 20)
    answer = " ".join(run_command("estimate", "--gpu=1GiB,context=0", "--nccl=1022MiB", write()).stdout.split())
    assert "does not fit a 1 GiB card per GPU: " in answer and "on each of 4 GPUs should peak at" in answer
    answer = " ".join(run_command("estimate", "--gpu=1GiB,context=0", "--nccl=900MiB", write()).stdout.split())
    assert "fits a 1 GiB card per GPU with " in answer


# The model has 7.5e9 parameters. The published bytes are those of one of 64 ranks, with mixed precision and Adam:
# Rajbhandari et al., "ZeRO", figure 1.
LARGE = {"schema": "gpumemtrace.model/1", "input": [10000], "optimizer": "adam",
         "layers": [{"name": "h", "repeat": 75, "layers": [{"type": "Linear", "out": 10000, "bias": False}]}]}
MIXED = ("--gpus=64", "--param-dtype=float16")


def zero(tmp_path, how):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(LARGE))
    return load_json("estimate", path, *([f"--parallel={how}", *MIXED] if how else []))


@pytest.mark.parametrize("how, published", [(None, 120), ("zero1", 31.4), ("zero2", 16.6)])
def test_zeros_published_bytes_of_weights_gradients_and_states_come_out(tmp_path, how, published):
    found = zero(tmp_path, how)["categories"]
    assert (found["parameters"] + found["gradients"] + found["optimizer"]) / 1e9 == pytest.approx(published, abs=0.06)


def test_stage_3s_published_bytes_come_out_besides_its_bucket_and_what_is_gathered(tmp_path):
    """After loading, a rank has its parts of the weights, the gradients and the float32 weights. The two states of Adam
    are created in the first step."""
    assert (zero(tmp_path, "zero3")["load"]["requested_bytes"] - 2 * 500_000_000 + 8 * 7.5e9 / 64) / 1e9 == pytest.approx(1.9, abs=0.06)


def test_what_zeros_formula_does_not_count_stands_beside_it(tmp_path):
    """The bucket has 5e8 elements. During the optimizer's step, float32 gradients and a temporary copy for Adam are
    also live."""
    result = zero(tmp_path, "zero2")
    assert result["categories"]["communication"] >= 2 * 500_000_000
    optimizer = {phase["name"]: phase["peak_bytes"] for phase in result["phases"]}["optimizer"]
    assert optimizer / 1e9 == pytest.approx(7.5 * (2 + 12 / 64 + 4 / 64 + 4 / 64), rel=0.01)


TITAN = ["--parallel=fsdp2", "--dtype=float32", "--param-dtype=bfloat16", "--reduce-dtype=float32", "--reshard=but-last",
         "--checkpointing=selective", "--logits=dropped", "--batch=2", "--set=sequence=8192,use_cache=false"]


@pytest.mark.parametrize("gpus, published_gib", [(8, 82.4), (128, 67.0)])
def test_torchtitans_published_peaks_come_out_without_a_run(gpus, published_gib):
    """The figures come from benchmarks/llama3_h100_202412_torchtitan.md, tables 1 and 3: the highest reserved bytes of
    a rank that trains Llama 3.1 8B."""
    peak = load_json("estimate", "llama-3-8b", f"--gpus={gpus}", *TITAN)["peak"]
    assert peak["reserved_bytes"] / 2**30 == pytest.approx(published_gib, rel=0.03)
