# SPDX-License-Identifier: MIT
"""Ten short scripts test one fact each, in at most three minutes: `make smoke` runs this file on the wheel only. Six of
the scripts are those of tests/cases, so their bytes are those of the public reports. The file tests only conclusions
that the commands get right today."""
import json

import pytest

from support.first_lines import check_first_line
from support.pytorch_builds import SCRIPTS
from support.run import ROOT, load_json, run_command, sentences_of

CASES = ROOT / "tests/cases"
MIB = 1 << 20


def printed(recording):
    """Returns one list for each line that the program printed. The list has the numbers in the line."""
    lines = recording.completed.stdout.splitlines()
    return [[int(word) for word in line.split() if word.isdigit()] for line in lines]


def answer(command, *traces):
    return " ".join(sentences_of(load_json(command, *traces)))


@pytest.fixture(name="case")
def fixture_case(dry_run):
    return lambda path, *options, **settings: dry_run(str(CASES / path), *options, **settings)


def test_a_training_loop_has_the_bytes_of_pytorchs_own_counters(dry_run):
    recording = dry_run("release.py")
    said = json.loads(recording.completed.stdout)
    (pool,) = recording.report()["devices"][0]["pools"]
    assert pool["peak_live_bytes"] == said["allocated_peak"]
    assert pool["peak_reserved_bytes"] == said["reserved_peak"]
    assert pool["live_at_exit_bytes"] == said["allocated"]


def test_an_output_kept_by_its_own_graph_leaks_16_mib_a_step_at_the_line_that_made_it(case):
    recording = case("leak-cause/leak-ctx-output.py")
    says = answer("leaks", recording.trace)
    assert says.startswith("Leak: 16.00 MiB per step by leak-ctx-output.py:14 SoftClip.forward") and "save_for_backward" in says


def test_a_remedy_takes_a_leak_away_and_the_diff_names_its_line(case):
    saved, kept = case("leak-cause/leak-ctx-output.py", "--saved"), case("leak-cause/leak-ctx-output.py")
    assert answer("leaks", saved.trace).startswith("No leak")
    assert " leak-ctx-output.py:14 SoftClip.forward: " in answer("diff", saved.trace, kept.trace)


def test_a_metric_that_keeps_graphs_leaks_what_a_round_computes(case):
    recording = case("leak-cause/leak-metric-graph.py")
    rounds = printed(recording)
    assert rounds[-1][1] - rounds[-2][1] == pytest.approx(50 * 10_667_520, rel=0.02)
    assert answer("leaks", recording.trace).startswith("Leak: 10.19 MiB per step")


def test_a_chain_of_steps_leaks_two_histories_and_ten_vectors_a_step(case):
    recording = case("leak-cause/leak-lbfgs-chain.py")
    a_step = 2 * 7_920_000 + 10 * 720_000
    rounds = printed(recording)
    assert rounds[-1][1] - rounds[-2][1] == pytest.approx(10 * a_step, rel=0.01)
    assert answer("leaks", recording.trace).startswith("Leak: 21.99 MiB per step")


def test_attempts_after_the_handler_fit_and_two_failures_are_caught(case):
    recording = case("advice-fails/oom-caught-frame.py", "--outside", spec="8GiB")
    assert "fits: 32768" in recording.completed.stdout
    assert [failure["kind"] for failure in load_json("oom", recording.trace)["oom"]] == ["caught", "caught"]
    assert run_command("check", recording.trace, "--max-peak=8GiB").returncode == 1


def test_gathered_logits_die_in_the_line_that_concatenates_them(case):
    recording = case("advice-fails/eval-logits-kept.py", check=False)
    assert recording.completed.returncode == 1
    rounds = printed(recording)
    assert rounds[-1][1] - rounds[-2][1] == pytest.approx(500_072_448, rel=0.001)
    assert answer("oom", recording.trace).startswith("Out of memory, and the program died: eval-logits-kept.py:23 gather asked for")


def test_streams_made_anew_reserve_16_pairs_of_buffers_beside_the_same_live_bytes(case):
    fresh, once = case("moment/oom-fresh-streams.py"), case("moment/oom-fresh-streams.py", "--once")
    (of_fresh,), (of_once,) = fresh.report()["devices"][0]["pools"], once.report()["devices"][0]["pools"]
    assert of_fresh["peak_live_bytes"] == of_once["peak_live_bytes"]
    assert of_fresh["peak_reserved_bytes"] - of_once["peak_reserved_bytes"] == 15 * 256 * MIB


def test_a_batch_too_large_is_rescued_by_the_largest_that_fits(torch_build, tmp_path):
    completed = run_command("fix", "--json", "--limit=1GiB", "--vary=batch-size", "--max-runs=4", "--", torch_build.python,
                            SCRIPTS / "fixable.py", "batch", "--batch-size=64", cwd=tmp_path)  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    found = json.loads(completed.stdout)
    assert found["remedies"][0]["kind"] == "number"
    assert found["runs"][found["remedies"][0]["run"] - 1]["end"] == "fits"


def test_a_router_sees_the_values_that_it_computed(dry_run):
    seen = json.loads(dry_run("values.py", "router").completed.stdout.splitlines()[-1])
    assert all(sum(counts) == seen["tokens"] * seen["per_token"] for counts in seen["layers"])


def test_the_report_of_a_growing_cache_opens_as_stored(dry_run, torch_build):
    recording = dry_run("inference.py")
    check_first_line("first_lines_pytorch.txt", f"{torch_build.name} inference.py", recording.trace, "inference.py")
