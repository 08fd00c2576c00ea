# SPDX-License-Identifier: MIT
"""Frozen weights, adapters as peft makes them, and quantized weights as bitsandbytes makes them. `make check-estimates`
compares the figures with both libraries."""
import pytest

SMALL_LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64,
               "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 32}


BF16 = "--dtype=bfloat16"
ON_Q = ("--lora=2", "--lora-on=q_proj")
ELEMENTS = 2 * (2 * 64 + 64 * 2)  # of the adapters' weights, in both blocks
Q = "model.layers.1.self_attn.q_proj"


def row(result, name):
    return next(row for row in result["layers"] if row["name"] == name)


def names(result):
    return [row["name"].removeprefix(Q) for row in result["layers"] if row["name"].startswith(Q)]


def test_adapters_are_layers_of_their_own_and_all_else_is_frozen(estimate):
    plain, adapted = estimate(SMALL_LLAMA), estimate(SMALL_LLAMA, *ON_Q)
    assert adapted["parameters"]["count"] - plain["parameters"]["count"] == ELEMENTS
    assert names(adapted) == ["", ".lora_input", ".lora_A", ".lora_B", ".scaled", "", ""]
    assert ".lora_dropout" in names(estimate(SMALL_LLAMA, *ON_Q, "--lora-dropout=0.05"))
    states = next(row for row in adapted["phases"] if row["name"] == "data")["peak_bytes"] - adapted["load"]["requested_bytes"]
    assert states < 2 * 4 * ELEMENTS + 4096  # states of the adapters, and a batch


def test_adapters_are_float32_unless_they_have_the_models_type(estimate):
    plain = estimate(SMALL_LLAMA, BF16)["load"]["requested_bytes"]
    wide, short = estimate(SMALL_LLAMA, BF16, *ON_Q), estimate(SMALL_LLAMA, BF16, *ON_Q, "--lora-dtype=model")
    assert wide["load"]["requested_bytes"] - plain == 4 * ELEMENTS
    assert short["load"]["requested_bytes"] - plain == 2 * ELEMENTS
    assert names(short) == ["", ".lora_A", ".lora_B", ".scaled", ""]
    # the cast input is kept; the model's own input is kept once for all that read it
    assert row(wide, Q + ".lora_A")["saved_bytes"] == 4 * 32 * 64
    assert row(wide, Q)["output_bytes"] == 2 * 32 * 64


def test_an_adapter_that_drops_keeps_a_mask_and_an_input_of_its_own(estimate):
    on_v, element_count = Q.replace("q_proj", "v_proj"), 32 * 64
    shared, dropped = estimate(SMALL_LLAMA, "--lora=2"), estimate(SMALL_LLAMA, "--lora=2", "--lora-dropout=0.05")
    assert row(shared, on_v + ".lora_A")["saved_bytes"] == 0  # the adapter of q_proj has saved the same input
    assert row(dropped, on_v + ".lora_A")["saved_bytes"] == 4 * element_count
    assert row(dropped, on_v + ".lora_dropout")["saved_bytes"] == element_count


def test_only_a_product_of_8_bit_keeps_the_input_of_a_frozen_weight(estimate):
    last = "model.layers.1.mlp.down_proj"
    kept = {how: row(estimate(SMALL_LLAMA, *ON_Q, f"--quantize={how}"), last)["saved_bytes"] for how in ("none", "nf4", "int8")}
    assert kept == {"none": 0, "nf4": 0, "int8": 4 * 32 * 128}


def test_a_product_of_4_bit_returns_the_type_of_its_input_under_autocast(estimate):
    last, amp = "model.layers.1.mlp.down_proj", "--amp=bfloat16"
    assert row(estimate(SMALL_LLAMA, amp), last)["output_bytes"] == 2 * 32 * 64
    assert row(estimate(SMALL_LLAMA, amp, *ON_Q, "--quantize=nf4"), "model.layers.1.mlp.gate_proj")["output_bytes"] == 4 * 32 * 128


def test_a_loop_that_frees_the_outputs_frees_the_caches_too(estimate):
    def caches(*options):
        return estimate({**SMALL_LLAMA, "vocab_size": 4000}, *options)["categories"]["kv_cache"]

    assert caches() == 2 * 2 * 4 * 32 * 64
    assert caches("--logits=dropped") == 0


def held(prefix):
    """Returns a model whose last two layers are in the module `prefix`, or in none."""
    part = {"type": "Linear", "bias": False}
    return {"schema": "gpumemtrace.model/1", "input": [8], "batch": 1000, "optimizer": "sgd",
            "layers": [{**part, "name": "first", "out": 64}, {**part, "name": prefix + "a", "out": 64}, {**part, "name": prefix + "b", "out": 64},
                       {**part, "name": "last", "out": 1}]}  # fmt: skip


def test_a_caller_holds_the_argument_of_a_module_that_keeps_no_input(estimate):
    def forward(prefix):
        return next(row for row in estimate(held(prefix), "--trains=first")["phases"] if row["name"] == "forward")["peak_bytes"]

    assert forward("part.") - forward("") == 4 * 1000 * 64


def test_a_segment_runs_again_when_backward_first_needs_what_it_saved(estimate):
    def backward(width):
        layers = [{"type": "Linear", "out": out, "bias": False} for out in (width, 64)]
        model = {"schema": "gpumemtrace.model/1", "input": [8], "batch": 1000, "dtype": "bfloat16", "checkpointing": 1,
                 "layers": [{"name": "block", "repeat": 1, "layers": [*layers, {"type": "Float"}]}]}  # fmt: skip
        return next(row for row in estimate(model)["phases"] if row["name"] == "backward")["peak_bytes"]

    # the cast of the gradient needs nothing of the segment, so the narrow result is not there at the peak
    assert backward(16) - backward(8) < 2 * 1000 * 8


def phase(result, name):
    return next(row for row in result["phases"] if row["name"] == name)["peak_bytes"]


def with_experts(hidden):
    layers = [{"type": "Linear", "name": "first", "out": 32, "bias": False}, {"type": "Experts", "name": "experts", "num": 4, "hidden": hidden, "active": 2}]
    return {"schema": "gpumemtrace.model/1", "input": [64, 32], "batch": 8, "optimizer": "sgd", "layers": layers}


def test_experts_free_in_backward_what_they_have_read(estimate):
    rows, weight = 4 * 96 * 64 * 8 * 2, 4 * 96 * 32 * 4
    grown = phase(estimate(with_experts(192)), "backward") - phase(estimate(with_experts(96)), "backward")
    # gate and up, the activation, three gradients of that size, and the gradient of one of three weights
    assert grown == (2 + 1 + 3) * rows + (3 + 1) * weight


def test_frozen_experts_keep_neither_their_rows_nor_the_product(estimate):
    trained, frozen = (row(estimate(with_experts(96), *options), "experts")["saved_bytes"] for options in ((), ("--trains=first",)))
    assert trained - frozen == 4 * (32 + 96) * 64 * 8 * 2


def test_autocast_casts_no_weights_of_experts(estimate):
    plain, cast = (estimate(with_experts(96), *options) for options in ((), ("--amp=bfloat16",)))
    assert row(cast, "experts")["saved_bytes"] == row(plain, "experts")["saved_bytes"]


def test_a_frozen_segment_keeps_nothing_for_a_second_run(estimate):
    last = [phase(estimate(SMALL_LLAMA, "--trains=layers.1", *options), "data")
            for options in ((), ("--checkpointing=1",), ("--checkpointing=selective",))]  # fmt: skip
    assert last[0] == last[1] == last[2]


@pytest.mark.parametrize("options, gpus, inside", [(["--parallel=dp-other", "--logits=dropped"], 2, ("head", "cast", "loss")),
                                                   (["--logits=chunked"], 1, ("cast", "loss"))])
def test_a_loss_in_a_module_holds_no_longer_than_one_outside(estimate, options, gpus, inside):
    def peaks(module):
        layers = [{"type": "Linear", "out": 64, "bias": False, "name": "first"}, {"type": "Linear", "out": 4000, "bias": False, "name": "head"},
                  {"type": "Float", "name": "cast"}, {"type": "TokenLoss", "name": "loss"}]  # fmt: skip
        layers = [{**layer, "name": module * (layer["name"] in inside) + layer["name"]} for layer in layers]
        model = {"schema": "gpumemtrace.model/1", "input": [64, 32], "batch": 4, "dtype": "bfloat16", "layers": layers}
        return [row["peak_bytes"] for row in estimate(model, f"--gpus={gpus}", *options)["phases"] if row["name"] != "forward"]

    assert peaks("criterion.") == peaks("")


def test_a_product_of_4_bit_copies_its_weight_and_a_wider_input_and_result(estimate):
    def forward(dtype):
        model = {"schema": "gpumemtrace.model/1", "input": [64], "batch": 1000, "layers": [{"type": "Linear", "name": "a", "out": 64, "bias": False}]}
        result = estimate(model, "--inference", "--quantize=nf4", f"--dtype={dtype}")
        return phase(result, "forward") - result["load"]["requested_bytes"]

    assert forward("bfloat16") == 2 * 2 * 64 * 1000 + 2 * 64 * 64
    assert forward("float32") == 2 * 4 * 64 * 1000 + 2 * 2 * 64 * 1000 + 2 * 64 * 64


@pytest.mark.parametrize(("how", "copied"), [("nf4", 4), ("int8", 2)])
def test_a_weight_is_on_the_device_as_a_whole_while_it_is_quantized(estimate, how, copied):
    model = {"schema": "gpumemtrace.model/1", "input": [64], "layers": [{"type": "Linear", "name": "a", "out": 64, "bias": False}]}
    result = estimate(model, "--inference", f"--quantize={how}")
    assert phase(result, "init") == result["load"]["requested_bytes"] + copied * 64 * 64


def test_the_states_of_bitsandbytes_are_float32(estimate):
    def states(optimizer):
        result = estimate(SMALL_LLAMA, BF16, f"--optimizer={optimizer}")
        return (phase(result, "data") - result["load"]["requested_bytes"]) / result["parameters"]["count"]

    assert [round(states(name)) for name in ("adamw", "adam-bnb", "lion")] == [4, 8, 4]


def test_an_optimizer_has_the_name_of_the_training_arguments_too(estimate):
    def answer(optimizer):
        return estimate(SMALL_LLAMA, BF16, f"--optimizer={optimizer}")

    for name, other in (("adamw_torch_fused", "adamw-fused"), ("paged_adamw_8bit", "paged-adam8bit"), ("lion_32bit", "lion")):
        assert answer(name) == answer(other)
    assert any("managed memory" in line for line in answer("paged-adam")["assumptions"])


@pytest.mark.parametrize("parallel", ["fsdp2", "zero2"])
def test_ranks_that_share_weights_have_adapters_of_the_models_type(estimate, parallel):
    def peaks(*options):
        result = estimate(SMALL_LLAMA, BF16, "--gpus=2", f"--parallel={parallel}", "--lora=8", *options)
        return [row["peak_bytes"] for row in result["phases"]]

    assert peaks() == peaks("--lora-dtype=model")


def test_the_sum_of_a_tied_weights_two_gradients_is_a_third_except_under_autocast(estimate):
    def over(*options):
        result = estimate({**SMALL_LLAMA, "vocab_size": 4000, "tie_word_embeddings": True}, "--optimizer=sgd", "--logits=dropped",
                          *options)
        return phase(result, "backward") - result["load"]["requested_bytes"] - result["parameters"]["bytes"]

    table = 4 * 4000 * 64
    assert 2 * table <= over() < 2 * table + 200_000
    assert table <= over("--amp=bfloat16") < 2 * table


def test_what_is_not_trained_has_neither_gradient_nor_states(estimate):
    def after_load(*options):
        result = estimate(SMALL_LLAMA, "--optimizer=adam", *options)
        return next(row for row in result["phases"] if row["name"] == "data")["peak_bytes"] - result["load"]["requested_bytes"]

    assert after_load("--trains=lm_head") < 2 * 4 * 64 * 100 + 4096 < after_load()


def test_a_name_that_no_layer_has_is_refused(refused):
    refused(SMALL_LLAMA, "nothing is trained", options=["--trains=classifer"])
    refused(SMALL_LLAMA, "none has an adapter", options=["--lora=4", "--lora-on=qproj"])
    refused(SMALL_LLAMA, "'flsh'", "eager, sdpa and flash", options=["--attention=flsh"])


@pytest.mark.parametrize("options, part", [
    (["--lora-dropout=0.1"], "needs adapters: --lora=R"), (["--lora-dtype=model"], "needs adapters: --lora=R"),
    (["--lora=2", "--lora-dropout=1"], "'1' is not a share of at least 0 and below 1"), (["--lora=2", "--lora-dropout=x"], "'x' is not"),
    (["--lora=2", "--lora-dropout="], "'' is not"), (["--lora=2", "--lora-dtype=int8"], "known are float32 and model")])
def test_a_bad_option_of_adapters_is_refused(refused, options, part):
    refused(SMALL_LLAMA, part, options=options)
