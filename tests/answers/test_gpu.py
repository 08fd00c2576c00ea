# SPDX-License-Identifier: MIT
"""`gpumemtrace estimate --gpu` and `--what-if`. Each answer is compared with the estimate from which it follows."""
import json
import re

import pytest

from support.run import ROOT, load_json, run_command, sentences_of

SAMPLES = ROOT / "samples"
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64,
         "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 500, "max_position_embeddings": 4096}
LSTM = {"schema": "gpumemtrace.model/1", "input": [100, 64], "batch": 8,
        "layers": [{"type": "LSTM", "hidden": 256}, {"type": "Linear", "out": 10}]}
CNN = {"schema": "gpumemtrace.model/1", "input": [3, 64, 64], "batch": 16, "optimizer": "sgd", "layers": [
    {"type": "Conv2d", "in": 3, "out": 32, "kernel": 3}, {"type": "BatchNorm2d", "features": 32}, {"type": "ReLU"},
    {"type": "AdaptiveAvgPool2d", "output": 2}, {"type": "Flatten"}, {"type": "Linear", "in": 128, "out": 10}]}


@pytest.fixture
def write(tmp_path):
    def write(model, name="model.json"):
        path = tmp_path / name
        path.write_text(json.dumps(model))
        return path

    return write


def ask(model, *options):
    return load_json("estimate", model, *options)


def first_line(model, *options):
    """Returns the first sentence of the text, joined to one line if it is wrapped."""
    lines = run_command("estimate", model, *options).stdout.splitlines()
    end = next(i for i, line in enumerate(lines) if line.endswith("."))
    return " ".join(lines[:end + 1])


def sizes_line(model, *options):
    """Returns the sentence about the largest batch."""
    (said,) = (text for text in sentences_of(ask(model, *options)) if text.startswith(("The largest batch", "As it is,")))
    return said


def fits(model, *options):
    card = ask(model, *options)["card"]
    assert card["needed_bytes"] + card["others_bytes"] + card["spare_bytes"] == card["total_bytes"]
    assert card["fits"] == (card["spare_bytes"] >= 0)
    return card["fits"]


# --- a card ----------------------------------------------------------------------------------------


def test_the_first_line_is_the_answer():
    line = first_line(SAMPLES / "vgg16.json", "--gpu=24GiB", "--batch=8")
    found = re.fullmatch(r"VGG16: fits a 24 GiB card with (\S+ GiB) to spare at batch 8\.", line)
    card = ask(SAMPLES / "vgg16.json", "--gpu=24GiB", "--batch=8")["card"]
    assert found[1] == f"{card['spare_bytes'] / 2**30:.2f} GiB"
    sizes = f"The largest batch that fits is {card['largest_batch']}."
    assert sizes_line(SAMPLES / "vgg16.json", "--gpu=24GiB", "--batch=8") == sizes


def test_what_is_needed_are_segments_and_context():
    result = ask(SAMPLES / "vgg16.json", "--gpu=h100,others=2GiB")
    assert result["card"]["context_bytes"] == 630 << 20 and result["card"]["others_bytes"] == 2 << 30
    assert result["card"]["needed_bytes"] == result["peak"]["reserved_bytes"] + (630 << 20) == result["peak"]["device_bytes"]
    assert ask(SAMPLES / "vgg16.json", "--gpu=h100", "--context=1GiB")["card"]["context_bytes"] == 1 << 30


def test_the_workspace_of_cublas_is_that_of_the_card():
    for card, size in (("a100-40", 8_519_680), ("16GiB", 8_519_680), ("h100", 33_554_432)):
        assert ask(SAMPLES / "train.json", f"--gpu={card}")["categories"]["workspace"] == size
    assert ask(SAMPLES / "train.json", "--gpu=h100", "--workspace=1MiB")["categories"]["workspace"] == 1 << 20


@pytest.mark.parametrize("card", ["4GiB", "a10", "h100"])
@pytest.mark.parametrize("options", [[], ["--optimizer=sgd"], ["--inference"]], ids=" ".join)
def test_the_largest_batch_fits_and_one_more_does_not(card, options):
    model, options = SAMPLES / "vgg16.json", [f"--gpu={card}", *options]
    largest = ask(model, *options)["card"]["largest_batch"]
    assert largest > 1 and fits(model, *options, f"--batch={largest}")
    for above in (1, 2, 3, 4):
        assert not fits(model, *options, f"--batch={largest + above}")


def test_the_largest_batch_is_the_same_from_wherever_the_search_begins():
    answers = {ask(SAMPLES / "vgg16.json", "--gpu=3GiB", f"--batch={batch}")["card"]["largest_batch"]
               for batch in (1, 2, 7, 100, 100_000)}
    assert len(answers) == 1


STEPPED = {"schema": "gpumemtrace.model/1", "input": [3, 32, 32], "optimizer": "sgd", "layers": [
    {"type": "Conv2d", "out": 64, "kernel": 3, "padding": 1}, {"type": "ReLU"}, {"type": "Conv2d", "out": 64, "kernel": 3, "padding": 1},
    {"type": "ReLU"}, {"type": "MaxPool2d", "kernel": 2}, {"type": "Flatten"}, {"type": "Linear", "out": 10},
    {"type": "CrossEntropyLoss"}]}


def test_a_batch_that_does_not_fit_below_one_that_does_ends_no_search(write):
    model = write(STEPPED)
    reserved = [0] + [ask(model, f"--batch={batch}", "--workspace=8519680")["peak"]["reserved_bytes"] for batch in range(1, 40)]
    drops = [batch for batch in range(1, 39) if reserved[batch] > reserved[batch + 1]]
    assert drops, "the estimate of this model has become steady: take another one"
    for batch in drops:
        limit = reserved[batch + 1]
        largest = ask(model, f"--gpu={limit + (300 << 20)},context=300MiB")["card"]["largest_batch"]
        assert largest >= max(fitting for fitting in range(1, 40) if reserved[fitting] <= limit) > batch


@pytest.mark.parametrize("card", ["a10", "h100", "280GiB"])
def test_the_largest_of_thousands_of_batches_fits_and_one_more_does_not(write, card):
    model, options = write(STEPPED), [f"--gpu={card}", "--optimizer=adamw"]
    largest = ask(model, *options)["card"]["largest_batch"]
    assert largest > 1000 and fits(model, *options, f"--batch={largest}")
    assert not fits(model, *options, f"--batch={largest + 1}")


def test_a_larger_card_takes_a_larger_batch(write):
    model = write(STEPPED)
    found = [ask(model, f"--gpu={card}GiB", "--optimizer=adamw")["card"]["largest_batch"] for card in (280, 293, 306, 319)]
    assert found == sorted(set(found))


def test_what_others_hold_is_not_free(write):
    assert fits(SAMPLES / "vgg16.json", "--gpu=24GiB,others=21GiB")
    assert not fits(SAMPLES / "vgg16.json", "--gpu=24GiB,others=22GiB")
    assert ask(SAMPLES / "vgg16.json", "--gpu=24GiB,others=8GiB")["card"]["largest_batch"] == \
        ask(SAMPLES / "vgg16.json", "--gpu=16GiB")["card"]["largest_batch"]


def test_the_largest_sequence_fits_and_one_more_does_not(write):
    model, options = write(LLAMA), ["--gpu=1GiB", "--batch=16"]
    largest = ask(model, *options)["card"]["largest_sequence"]
    assert 1 < largest < 4096 and fits(model, *options, f"--set=sequence={largest}")
    assert not fits(model, *options, f"--set=sequence={largest + 1}")
    assert sizes_line(model, *options).endswith(f"the largest sequence {largest}.")


def test_a_sequence_is_no_longer_than_the_model_takes(write):
    model = write(LLAMA)
    assert ask(model, "--gpu=80GiB")["card"]["largest_sequence"] == 4096
    assert sizes_line(model, "--gpu=80GiB").endswith("the largest sequence 4096 (the model's longest).")
    assert ask(SAMPLES / "vgg16.json", "--gpu=80GiB")["card"]["largest_sequence"] is None


def test_a_model_that_fits_with_no_batch_says_so():
    result = ask(SAMPLES / "vgg16.json", "--gpu=512MiB")["card"]
    assert result["largest_batch"] == 0 and result["cheapest_changes"] == []
    assert sizes_line(SAMPLES / "vgg16.json", "--gpu=512MiB") == "As it is, not even batch 1 fits."
    assert first_line(SAMPLES / "vgg16.json", "--gpu=80GiB").startswith("VGG16: fits an 80 GiB card with ")


def test_every_card_of_a_dry_run_is_known():
    table = (ROOT / "common/sim_presets.def").read_text()
    cards = re.findall(r'^(?:PRESET|SLICE)\("([^"]+)", "[^"]+", (\d+), (\d+)', table, re.M)
    assert len(cards) > 20
    for name, mib, context_mib in cards:
        card = ask(SAMPLES / "linear-example.json", f"--gpu={name}")["card"]
        assert (card["total_bytes"], card["context_bytes"]) == (int(mib) << 20, int(context_mib) << 20)


@pytest.mark.parametrize("card", ["h1000", "any", "2x80GiB", "", "0GiB", "16GiB,others=17GiB"])
def test_what_is_no_card_is_refused_in_one_line(card):
    completed = run_command("estimate", SAMPLES / "vgg16.json", f"--gpu={card}")
    assert completed.returncode == 2 and completed.stdout == ""
    assert completed.stderr.startswith("gpumemtrace: estimate: option '--gpu': ") and completed.stderr.count("\n") == 1


@pytest.mark.parametrize("card, words", [("A100-80", "; did you mean 'a100-80'?"), ("24", "a size without a unit is in bytes")])
def test_a_card_that_is_nearly_right_gets_a_hint(card, words):
    assert words in run_command("estimate", SAMPLES / "vgg16.json", f"--gpu={card}").stderr


# --- remedies that make a model fit ----------------------------------------------------------------


@pytest.mark.parametrize("card, count", [("3328MiB", 1), ("2304MiB", 2), ("1600MiB", 2)])
def test_the_cheapest_changes_make_it_fit(card, count):
    model, options = SAMPLES / "vgg16.json", [f"--gpu={card}", "--batch=32"]
    assert not fits(model, *options)
    changes = [row["how"] for row in ask(model, *options)["card"]["cheapest_changes"]]
    assert len(changes) == count and all(change.startswith("--") for change in changes)
    assert fits(model, *options, *changes)


def test_a_fused_optimizer_is_cheaper_than_a_smaller_batch(write):
    wide = write({"schema": "gpumemtrace.model/1", "input": [8192], "batch": 64,
                  "layers": [{"type": "Linear", "out": 8192}]})
    card = ask(wide, "--gpu=1500MiB")["card"]
    assert not card["fits"] and [row["how"] for row in card["cheapest_changes"]] == ["--optimizer=adamw-fused"]


# --- savings of each technique ---------------------------------------------------------------------


@pytest.mark.parametrize("model, options", [(SAMPLES / "vgg16.json", ["--batch=16"]), (LLAMA, ["--batch=4"]), (CNN, []), (LSTM, [])],
                         ids=["vgg16", "llama", "cnn", "lstm"])
def test_each_saving_is_the_difference_of_two_estimates(write, model, options):
    path = write(model) if isinstance(model, dict) else model
    result = ask(path, *options, "--what-if")
    rows = result["what_if"]
    assert [row["saved_bytes"] for row in rows] == sorted((row["saved_bytes"] for row in rows), reverse=True)
    tried = [row for row in rows if row["how"].startswith("--")]
    assert len(tried) >= 3
    for row in tried:
        then = ask(path, *[option for option in options if option.split("=")[0] != row["how"].split("=")[0]], *row["how"].split())["peak"]
        assert (row["peak_bytes"], row["reserved_bytes"]) == (then["requested_bytes"], then["reserved_bytes"]), row["how"]
        assert row["saved_bytes"] == result["peak"]["requested_bytes"] - then["requested_bytes"]


def test_adapters_autocast_and_checkpoints_save_what_their_options_do(write):
    model = write(LLAMA)
    found = {row["technique"]: row for row in ask(model, "--batch=4", "--what-if")["what_if"]}
    assert {"lora", "amp", "checkpointing", "adam8bit", "adafactor"} <= set(found)
    assert found["lora"]["how"] == "--lora=8" and found["lora"]["saved_bytes"] > 0
    with_adapters = {row["technique"]: row for row in ask(model, "--batch=4", "--what-if", "--lora=4")["what_if"]}
    assert "lora" not in with_adapters
    assert with_adapters["sequence"]["peak_bytes"] == ask(model, "--batch=4", "--lora=4", "--set=sequence=1024")["peak"]["requested_bytes"]


def test_other_layers_are_estimated_as_if_the_file_had_them(write):
    def narrow(model):
        return {**model, "layers": [{**model["layers"][0], "out": 16}, {**model["layers"][1], "features": 16}, *model["layers"][2:5],
                                    {**model["layers"][5], "in": 64}]}

    inplace = {**CNN, "layers": [*CNN["layers"][:2], {"type": "ReLU", "inplace": True}, *CNN["layers"][3:]]}
    gru = {**LSTM, "layers": [{"type": "GRU", "hidden": 256}, LSTM["layers"][1]]}
    for model, technique, changed in ((CNN, "inplace", inplace), (CNN, "image", {**CNN, "input": [3, 32, 32]}),
                                      (CNN, "narrow", narrow(CNN)), (LSTM, "gru", gru)):
        found = {row["technique"]: row for row in ask(write(model), "--what-if")["what_if"]}[technique]
        assert found["peak_bytes"] == ask(write(changed, "changed.json"))["peak"]["requested_bytes"], technique


def test_a_relu_that_may_not_overwrite_its_input_is_left_alone(write):
    kept = {"schema": "gpumemtrace.model/1", "input": [32], "batch": 64,
            "layers": [{"type": "Linear", "out": 32}, {"type": "Tanh"}, {"type": "ReLU"}]}
    assert "inplace" not in {row["technique"] for row in ask(write(kept), "--what-if")["what_if"]}
    both = {**kept, "layers": [{"type": "Linear", "out": 32}, {"type": "ReLU"}, *kept["layers"][1:]]}
    found = {row["technique"]: row for row in ask(write(both), "--what-if")["what_if"]}["inplace"]
    first = {**both, "layers": [both["layers"][0], {"type": "ReLU", "inplace": True}, *both["layers"][2:]]}
    assert found["peak_bytes"] == ask(write(first))["peak"]["requested_bytes"]


def test_with_a_card_each_technique_says_whether_it_fits():
    options = ["--batch=32", "--gpu=3GiB"]
    rows = ask(SAMPLES / "vgg16.json", *options, "--what-if")["what_if"]
    assert {row["fits"] for row in rows} == {True, False}
    for row in rows:
        assert row["fits"] == (row["reserved_bytes"] + (300 << 20) <= 3 << 30)
    assert {row["fits"] for row in ask(SAMPLES / "vgg16.json", "--what-if")["what_if"]} == {None}


def test_a_model_on_standard_input_is_asked_as_often_as_needed(write):
    text = json.dumps(LLAMA)
    completed = run_command("estimate", "-", "--gpu=1GiB", "--batch=16", "--what-if", "--json", input=text)
    assert json.loads(completed.stdout) == ask(write(LLAMA), "--gpu=1GiB", "--batch=16", "--what-if")


# --- the rule of thumb -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--inference", "--gpu=24GiB"], ["--optimizer=sgd", "--batch=64"]], ids=" ".join)
@pytest.mark.parametrize("model", [SAMPLES / "vgg16.json", "gpt2"])
def test_the_terms_of_the_rule_stand_beside_all_of_the_peak(model, options):
    result = ask(model, *options)
    terms = result["rule_of_thumb"]
    assert sum(term["rule_bytes"] for term in terms) == result["rule_of_thumb_bytes"]
    assert sum(term["estimated_bytes"] for term in terms) == result["peak"]["requested_bytes"]
    assert all(term["why"] for term in terms)


def test_adapters_are_named_where_only_they_fit():
    def said(*options):
        return " ".join(run_command("estimate", "llama-3-8b", "--gpu=24GiB", "--batch=1", *options).stdout.split())

    text = said()
    assert "no change that trains the same weights makes it fit" in text
    assert re.search(r"Train only adapters: --lora=8 .*, with segments of [0-9.]+ GiB;", text)
    how = text.split("Train only adapters: ")[1].split(" (")[0].split()
    assert fits("llama-3-8b", "--gpu=24GiB", "--batch=1", *how)
    assert "Train only adapters" not in said("--inference", "--dtype=float32")
