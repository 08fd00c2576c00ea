# SPDX-License-Identifier: MIT
"""A program reads back from a simulated card the values that it stored and computed there. A guessed value is reported
as guessed."""
import json
import re

import pytest

from support.run import run_command
from test_pytorch_dry_run import looked


@pytest.fixture(name="saw")
def fixture_saw(dry_run):
    return lambda part: looked(dry_run("values.py", part))


def guessing_lines(recording):
    trace = json.loads(run_command("report", "--json", recording.trace).stdout)["trace"]
    return {row["line"].rsplit("/", 1)[-1]: row["count"] for row in trace["read_backs"]}


def test_operators_on_small_tensors_agree_with_the_cpu(saw):
    assert saw("operators") == []


def test_what_depends_on_values_agrees_with_numpy(saw):
    assert all(saw("numpy"))


def test_what_is_computed_is_no_guess(dry_run):
    recording = dry_run("values.py", "operators")
    assert guessing_lines(recording) == {}
    assert "could not compute" not in recording.completed.stderr


def test_a_router_reaches_every_expert_about_as_often(saw):
    seen = saw("router")
    for counts in seen["layers"]:
        assert sum(counts) == seen["tokens"] * seen["per_token"]
        assert 0 < min(counts) and max(counts) <= 3 * min(counts)


def test_generating_ends_and_its_cache_grows(saw):
    seen = saw("generate")
    assert 1 <= seen["new"] <= 64
    assert seen["cached"] == 7 + seen["new"] - 1
    assert seen["within"]


def test_a_beam_search_stays_within_its_vocabulary(saw):
    assert saw("beam") == {"shape": [4, 13], "within": True}


def test_a_loop_that_waits_for_an_unknown_loss_ends_and_its_line_is_named(dry_run):
    recording = dry_run("values.py", "large_loop")
    assert 1 <= looked(recording) < 10000
    lines = guessing_lines(recording)
    assert lines and all(line.startswith("values.py:") for line in lines)
    assert "values.py:" in recording.completed.stderr and "could not compute" in recording.completed.stderr
    assert "reads values that the dry run could not compute" in " ".join(run_command("report", recording.trace).stdout.split())


def test_floats_that_are_only_shown_are_no_guesses_of_shapes(dry_run):
    recording = dry_run("values.py", "shown")
    assert guessing_lines(recording) == {}
    assert "could not compute" not in recording.completed.stderr
    assert recording.report()["trace"]["dry_run_floats"] == 6
    assert "such as a loss, may mean nothing" in " ".join(run_command("report", recording.trace).stdout.split())


def test_lines_that_compare_a_float_are_named(dry_run):
    recording = dry_run("values.py", "compared")
    assert sorted(guessing_lines(recording)) == sorted(f"values.py:{line}" for line in looked(recording))
    assert recording.report()["trace"]["dry_run_floats"] is None


def test_a_loop_that_waits_for_a_small_model_ends_by_its_loss(dry_run):
    recording = dry_run("values.py", "small_loop")
    assert 1 < looked(recording)["steps"] < 1000 and looked(recording)["loss"] <= 0.01
    assert guessing_lines(recording) == {}


def test_a_loop_that_waits_for_a_score_to_rise_ends(saw):
    assert 1 <= saw("rising") < 10000


def test_a_loop_that_waits_in_vain_is_named_while_it_runs(dry_run):
    recording = dry_run("values.py", "endless")
    (line,) = [line for line in recording.completed.stderr.splitlines() if "may never end" in line]
    assert "values.py:" in line and "read values that the dry run could not compute 1000 times" in line


def test_early_stopping_stops(saw):
    assert saw("early") < 10000


def test_a_gradient_scaler_steps_and_keeps_its_scale(saw):
    assert saw("scaler") == {"scale": 65536.0, "states": 4}


def test_distributions_accept_their_parameters_and_draw_from_them(saw):
    seen = saw("distributions")
    assert seen["actions"] and seen["repeats"] and seen["noise"] == [256, 64]
    assert 0.45 < seen["mean"] < 0.55


def test_a_loader_with_pinned_workers_brings_its_numbers(saw):
    assert saw("loader") == [18, 66, 114, 162]


def test_ddp_finds_its_ranks_alike_and_collectives_bring_values(saw):
    assert saw("parallel") == [[1.0] * 3, [2.0] * 3]


def test_what_nobody_computed_is_read_alike_each_time(saw):
    seen = saw("large_mask")
    assert seen["rows"][0] == seen["rows"][1] and 0 < seen["rows"][0] < seen["of"]
    assert seen["losses"][0] == seen["losses"][1] != 0


def test_what_nobody_computed_passes_as_finite(saw):
    assert all(saw("finite")) and saw("finite")


def test_backward_finds_the_mask_of_its_forward_after_a_graph_ran(saw):
    assert saw("forgotten") == [[160, 64], [200, 64]]


def test_a_tensor_prints_its_values_and_what_is_known_stays_known(dry_run):
    recording = dry_run("values.py", "printed")
    seen = looked(recording)
    assert all(seen["same"]) and seen["rows"] == [3, 3]
    assert seen["texts"] == [
        "tensor(3.5000, device='cuda:0')", "3.50",
        "Parameter containing:\ntensor([1., 1.], device='cuda:0', requires_grad=True)",
        "tensor([2., 2.], device='cuda:0', grad_fn=<MulBackward0>)",
    ]  # fmt: skip
    assert guessing_lines(recording) == {}


def test_the_host_gets_tensors_with_gaps_as_they_are(dry_run):
    recording = dry_run("values.py", "gaps")
    assert looked(recording) == []
    assert guessing_lines(recording) == {}


def test_a_column_that_nobody_computed_is_guessed_and_its_line_named(dry_run):
    recording = dry_run("values.py", "unknown_gaps")
    assert looked(recording) is True
    assert list(guessing_lines(recording).values()) == [3]


def test_inference_mode_knows_what_other_modes_know(dry_run):
    recording = dry_run("values.py", "inference")
    assert looked(recording) == [[24, 4], 24, 3.0, 2, 3, True, 16.0, [24, 4]]
    assert guessing_lines(recording) == {} and "not known" not in recording.completed.stderr


def test_a_beam_search_goes_on_where_unknown_scores_decide(saw):
    assert saw("beam_flags") == 32


def test_an_index_that_is_not_there_is_named_once_with_its_line(dry_run):
    recording = dry_run("values.py", "outside")
    said = re.findall(r"values\.py:(\d+): (\w+) gets index (-?\d+), and there are (\d+);", recording.completed.stderr)
    lines = looked(recording)
    assert said == [(str(line), *words) for line, words in zip(lines, [
        ("embedding", "50000", "50000"), ("nll_loss_forward", "9", "9"), ("index", "10", "10"), ("gather", "-1", "10")])]  # fmt: skip


def test_subclasses_of_parameters_compute_as_parameters_do(saw):
    assert saw("subclasses") == [[4, 288], 3.0]


LIBRARY = """
def settled(x):
    return x.mean().item() < 0
"""
PROGRAM = """
import torch
import waiting
assert not waiting.settled(torch.ones(2048, 2048, device="cuda") @ torch.ones(2048, 2048, device="cuda"))
"""


def test_the_line_that_is_named_is_the_programs_and_not_an_installed_packages(torch_build, tmp_path):
    packages = tmp_path / "packages"
    (packages / "waiting").mkdir(parents=True)
    (packages / "waiting-1.0.dist-info").mkdir()
    (packages / "waiting/__init__.py").write_text(LIBRARY)
    (tmp_path / "program.py").write_text("import sys\nsys.path.append(sys.path[0] + '/packages')" + PROGRAM)
    recording = torch_build.dry_run(tmp_path, tmp_path / "program.py")
    assert list(guessing_lines(recording)) == ["program.py:5"]


def test_a_compiled_model_is_still_compiled_and_once_for_all_its_calls(saw):
    assert saw("compiled") == 1


def test_a_script_that_fails_in_a_dry_run_gets_a_line_that_says_so(dry_run):
    failed = dry_run("values.py", "no_such_part", check=False).completed
    assert failed.returncode == 1
    assert "failed in a dry run" not in failed.stderr  # there is no trace, because nothing ran on a card
    failed = dry_run("values.py", "wrong_check", check=False).completed
    assert failed.returncode == 1
    (line,) = [line for line in failed.stderr.splitlines() if "failed in a dry run (exit status 1)" in line]
    assert "the dry run may not have computed that value" in line


MISTAKE = """
import torch
rows = torch.ones(2048, 4, device="cuda")
assert torch.isfinite(rows[0]).all()
rows @ torch.ones(5, device="cuda")
"""


def test_a_mistake_that_no_guess_made_is_called_the_programs(torch_build, tmp_path):
    (tmp_path / "mistake.py").write_text(MISTAKE)
    failed = torch_build.dry_run(tmp_path, tmp_path / "mistake.py", check=False).completed
    (line,) = [line for line in failed.stderr.splitlines() if "failed in a dry run (exit status 1)" in line]
    assert "look for the mistake in the program" in line
