# SPDX-License-Identifier: MIT
"""What a program reads back from a simulated card is what it put and computed there, or is said to be a guess."""
import json

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
    assert "nobody computed" not in recording.completed.stderr


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
    assert "values.py:" in recording.completed.stderr and "nobody computed" in recording.completed.stderr
    assert "reads values nobody computed" in " ".join(run_command("report", recording.trace).stdout.split())


def test_a_loop_that_waits_for_a_small_model_ends_by_its_loss(dry_run):
    recording = dry_run("values.py", "small_loop")
    assert 1 < looked(recording)["steps"] < 1000 and looked(recording)["loss"] <= 0.01
    assert guessing_lines(recording) == {}


def test_a_loop_that_waits_for_a_score_to_rise_ends(saw):
    assert 1 <= saw("rising") < 10000


def test_a_loop_that_waits_in_vain_is_named_while_it_runs(dry_run):
    recording = dry_run("values.py", "endless")
    (line,) = [line for line in recording.completed.stderr.splitlines() if "may never end" in line]
    assert "values.py:" in line and "read values nobody computed 1000 times" in line


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


def test_a_compiled_model_is_still_compiled(saw):
    assert saw("compiled") == 1


def test_a_script_that_fails_in_a_dry_run_gets_a_line_that_says_so(dry_run):
    failed = dry_run("values.py", "no_such_part", check=False).completed
    assert failed.returncode == 1
    assert "failed in a dry run" not in failed.stderr  # it left no trace: nothing ran on a card
    failed = dry_run("values.py", "wrong_check", check=False).completed
    assert failed.returncode == 1
    (line,) = [line for line in failed.stderr.splitlines() if "failed in a dry run (exit status 1)" in line]
    assert "nobody computed" in line
