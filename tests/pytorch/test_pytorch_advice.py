# SPDX-License-Identifier: MIT
"""Tests advice by following it. Each case of scripts/advice.py runs out of memory on a card that is a little too small.
If the script follows the advice, it must need less memory, by as many bytes as the advice promised."""
import pytest

from support.pytorch_builds import SCRIPTS
from support.run import load_json, run_command
from support.tracefile import MIB

TOLERANCE = 0.1
# (case, card, remedy, words of the advice that name the line)
CASES = [
    ("checkpointing", "4764MiB", "checkpoint", "checkpoint each Layer called by advice.py:39"),
    ("convolutions", "1600MiB", "checkpoint", "checkpoint each Block called by advice.py:"),
    ("smaller_batch", "2249MiB", "smaller_batch", "half the batch"),
    ("chunked_loss", "9972MiB", "chunked_loss", "compute the loss of advice.py:"),
    ("zero_grad", "5687MiB", "zero_grad", "zero_grad(set_to_none=True)"),
    ("late_zero_grad", "4850MiB", "zero_grad", "optimizer.zero_grad() right after optimizer.step()"),
    ("fused_optimizer", "4192MiB", "fused_optimizer", "fused=True for the optimizer of advice.py:"),
    ("held_over", "1623MiB", "held_over", "advice.py:25 Layer.forward"),
    ("inference", "9699MiB", "no_grad", "torch.no_grad() around advice.py:39"),
    ("evaluation", "5500MiB", "no_grad", "torch.no_grad() around advice.py:156"),
    ("evaluation_of_sequential", "3000MiB", "no_grad", "torch.no_grad() around advice.py:339"),
    ("checkpoint_on_device", "3981MiB", "load_on_cpu", 'map_location="cpu"'),
    ("data_on_cpu", "900MiB", "data_on_cpu", "move each batch of advice.py:"),
    ("attention", "8652MiB", "flash_attention", "scaled_dot_product_attention for the softmax of advice.py:"),
]
SUMMED_LOSSES_CARD = "2300MiB"
CAUGHT_CARD = "1800MiB"
ONE_CALL_CARD = "900MiB"


def leading_peak(recording):
    return recording.report()["devices"][0]["pools"][0]["peak_live_bytes"]


@pytest.mark.parametrize("case,card,remedy,words", CASES, ids=[case for case, *_ in CASES])
def test_what_the_advice_promises_is_gained_by_taking_it(dry_run, case, card, remedy, words):
    failed = dry_run("advice.py", case, spec=card, check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    promised = {row["remedy"]: row for row in load_json("oom", failed.trace)["remedies"]}[remedy]
    assert words in promised["advice"]
    taken = dry_run("advice.py", case, "--taken", spec=card)
    gained = promised["need_bytes"] - leading_peak(taken)
    assert gained == pytest.approx(promised["gain_bytes"], rel=TOLERANCE)


def test_for_losses_that_are_summed_neither_half_a_batch_nor_calls_that_are_layers_are_promised(dry_run):
    failed = dry_run("advice.py", "summed_losses", spec=SUMMED_LOSSES_CARD, check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    answer = load_json("oom", failed.trace)
    assert [(row["remedy"], row["gain_bytes"]) for row in answer["remedies"]] == [("each_backward", None)]
    words = "Call backward() for each loss, not for their sum, or torch.no_grad() if no backward follows"
    assert f"{words} (gain not known)." in answer["answer"]
    taken = dry_run("advice.py", "summed_losses", "--taken", spec=SUMMED_LOSSES_CARD)
    assert leading_peak(taken) < answer["remedies"][0]["need_bytes"] / 2


@pytest.mark.parametrize("card", [ONE_CALL_CARD, "1400MiB"])
def test_a_model_that_is_called_once_is_not_to_be_checkpointed_nor_is_a_workspace(dry_run, card):
    failed = dry_run("advice.py", "one_call", spec=card, check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    assert {row["remedy"] for row in load_json("oom", failed.trace)["remedies"]} <= {"smaller_batch"}


def test_a_new_line_that_calls_a_sequential_once_is_not_taken_for_evaluation(dry_run):
    failed = dry_run("advice.py", "second_use_of_sequential", spec="3000MiB", check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    assert "no_grad" not in {row["remedy"] for row in load_json("oom", failed.trace)["remedies"]}


def test_an_exception_that_is_kept_is_named_with_what_it_holds(dry_run):
    failed = dry_run("advice.py", "caught", spec=CAUGHT_CARD, check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    promised = load_json("oom", failed.trace)["remedies"][0]
    line = 1 + (SCRIPTS / "advice.py").read_text().splitlines().index("        attempt(8192)")
    assert promised["advice"] == f"free the exception of advice.py:{line}, and try again after the except block"
    taken = dry_run("advice.py", "caught", "--taken", spec=CAUGHT_CARD)
    before, after = (int(run.completed.stdout.split()[0]) for run in (failed, taken))
    assert before - after == pytest.approx(promised["gain_bytes"], rel=TOLERANCE)


def test_the_setting_that_is_advised_is_obeyed_and_gains_what_was_promised(torch_build, dry_run):
    card = "1345MiB"
    failed = dry_run("advice.py", "fragments", spec=card, check=False)
    assert failed.completed.returncode == 1, failed.completed.stdout
    promised = load_json("oom", failed.trace)["remedies"][0]
    variable = {"debian": "PYTORCH_CUDA_ALLOC_CONF", "wheel": "PYTORCH_ALLOC_CONF"}[torch_build.name]
    assert promised["advice"] == f"set {variable}=expandable_segments:True"
    taken = dry_run("advice.py", "fragments", spec=card, **{variable: "expandable_segments:True"})
    before, after = (run.report()["devices"][0]["pools"][0]["peak_reserved_bytes"] for run in (failed, taken))
    assert before + 400 * MIB - after == pytest.approx(promised["gain_bytes"], rel=TOLERANCE)


def test_a_library_that_fails_beside_an_idle_pool_is_helped_by_empty_cache(torch_build, dry_run):
    """cublasCreate allocates its workspace from the driver, although PyTorch 2.15 has a workspace in its own pool."""
    if torch_build.name != "wheel":
        pytest.skip("there, cuBLAS was created before the card was full")
    failed = dry_run("advice.py", "own_kernels", spec="1735MiB", check=False)
    assert "CUBLAS_STATUS_ALLOC_FAILED" in failed.completed.stderr
    first = load_json("oom", failed.trace)["remedies"][0]
    assert first["remedy"] == "empty_cache"
    assert first["gain_bytes"] > 8 << 20


def test_a_run_with_room_gets_no_advice(dry_run):
    assert load_json("report", dry_run("inference.py").trace)["remedies"] == []
    assert "What would have helped" not in run_command("report", dry_run("inference.py").trace).stdout
