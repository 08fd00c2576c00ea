# SPDX-License-Identifier: MIT
"""`estimate --logits=chunked`: the head and the loss are computed as one operation. The expected figures come from a
dry run of linear_cross_entropy in PyTorch 2.15."""
import json

import pytest

from support.run import load_json, run_command

MIB = 1 << 20


@pytest.fixture(name="estimate")
def fixture_estimate(tmp_path):
    def estimate(tokens, width, words, *options):
        path = tmp_path / "model.json"
        path.write_text(json.dumps({"schema": "gpumemtrace.model/1", "input": [tokens, width], "optimizer": "sgd", "layers": [
            {"type": "Linear", "out": width, "bias": False}, {"type": "Linear", "out": words, "bias": False}, {"type": "TokenLoss"}]}))  # fmt: skip
        return load_json("estimate", path, "--logits=chunked", *options)

    return estimate


@pytest.mark.parametrize(("dtype", "sizes", "saved", "piece"), [
    ("bfloat16", (4096, 1024, 32000), 70.5, 31.25), ("float32", (8192, 512, 50000), 113.66, 24.41)])  # fmt: skip
def test_forward_saves_two_gradients_and_needs_a_piece_of_the_scores_for_a_moment(estimate, dtype, sizes, saved, piece):
    result = estimate(*sizes, f"--dtype={dtype}")
    element = 2 if dtype == "bfloat16" else 4
    peaks = {phase["name"]: phase["peak_bytes"] for phase in result["phases"]}
    head = result["layers"][1]
    assert head["saved_bytes"] / MIB == pytest.approx(saved, abs=0.1)
    assert (peaks["forward"] - peaks["data"]) / MIB == pytest.approx(saved + piece + sizes[0] * sizes[1] * element / MIB, abs=1)


def test_backward_hands_these_gradients_on_and_makes_no_others(estimate):
    """At the end of backward, the gradients of both weights are live. The gradient that the chunked loss passes to the
    layer before it is live at the same time."""
    result = estimate(4096, 1024, 32000)
    assert result["categories"]["gradients"] <= 4 * (1024 * 1024 + 32000 * 1024)
    assert result["peak"]["requested_bytes"] < 2.5 * 4 * 32000 * 1024 + 4 * 4096 * 1024 * 4


def test_a_model_without_such_a_loss_is_refused_in_one_line():
    completed = run_command("estimate", "resnet50", "--logits=chunked", check=False)
    assert completed.returncode == 2 and "needs a loss on the output of a linear layer" in completed.stderr


def test_what_if_tells_what_it_saves_of_a_decoder_with_a_large_vocabulary():
    rows = {row["technique"]: row for row in load_json("estimate", "gpt2", "--batch=8", "--what-if")["what_if"]}
    assert rows["chunked"]["saved_bytes"] > 8 * 1024 * 50257 * 4
