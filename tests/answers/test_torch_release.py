# SPDX-License-Identifier: MIT
"""`estimate --torch=RELEASE`: older releases of PyTorch keep the gradients in forward, and the input of each softmax."""
import json

import pytest

from support.run import run_command

VALUES = 64 * 64  # in the weight, and in the scores of one sample
LINEAR = {"type": "Linear", "out": 64, "bias": False}
MODEL = {"schema": "gpumemtrace.model/1", "input": [64, 64], "optimizer": "sgd",
         "layers": [LINEAR, {"type": "Softmax"}, LINEAR]}  # fmt: skip


@pytest.fixture
def estimate(tmp_path):
    """Returns estimate(options …), the estimate of MODEL, or of the keys given, as JSON."""

    def estimate(*options, **keys):
        path = tmp_path / "model.json"
        path.write_text(json.dumps({**MODEL, **keys}))
        completed = run_command("estimate", path, "--json", *options)
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)

    return estimate


@pytest.fixture
def refused(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(MODEL))

    def refused(part, *options):
        completed = run_command("estimate", path, *options)
        assert (completed.returncode, completed.stdout) == (2, "") and part in completed.stderr, completed

    return refused


@pytest.mark.parametrize("release, kept", [("1.10", 1), ("1.11.0", 0), ("1.13.1", 0), ("2.0.1+cu118", 0), ("2.15", 0)])
def test_softmax_saved_its_input_until_1_11(estimate, release, kept):
    """The first linear layer's result: the input of Softmax."""
    newest, found = estimate(), estimate(f"--torch={release}")
    assert newest["settings"]["torch"] is None and found["settings"]["torch"] == ".".join(release.split(".")[:2])
    assert found["kept_for_backward_bytes"] - newest["kept_for_backward_bytes"] == 4 * VALUES * kept


@pytest.mark.parametrize("release, count", [("1.13", 2), ("2.0", 0)])
def test_gradients_stayed_in_forward_until_2_0(estimate, release, count):
    """Each weight has one."""
    newest, found = ({phase["name"]: phase["peak_bytes"] for phase in estimate(*options)["phases"]}
                     for options in ((), (f"--torch={release}",)))  # fmt: skip
    assert found["forward"] - newest["forward"] == count * 4 * VALUES


def test_a_model_file_may_say_the_release_and_adam_is_the_loop_there(estimate):
    of_file = estimate(torch="1.10", optimizer="adamw")
    assert of_file["kept_for_backward_bytes"] == estimate("--torch=1.10")["kept_for_backward_bytes"]
    assert of_file["settings"]["optimizer"] == "adamw-loop"


def test_what_was_not_measured_is_refused(refused):
    refused("'two' is not a release, for example 1.13 or 2.0.1", "--torch=two")
    refused("'2' is not a release", "--torch=2")
    refused("'1.13x' is not a release", "--torch=1.13x")
    refused("before PyTorch 2.0, RMSprop without foreach is not estimated", "--torch=1.13", "--optimizer=rmsprop")
    refused("before PyTorch 2.0 only --parallel=ddp is estimated", "--torch=1.13", "--gpus=2", "--parallel=fsdp2")
