# SPDX-License-Identifier: MIT
"""`run --vary=NAME:LOW..HIGH --fit=SPEC` finds the largest value that fits, by dry runs, or prints a message if no
value fits. The program is tests/programs/calls/takes_batch.c, which takes 100 MiB and batch × sequence MiB, beside a
context of 300 MiB. So 624 is the largest batch in 1 GiB."""
import json
import signal
import subprocess

import pytest

from support.run import BUILD, TIMEOUT_S, clean_environment, run_command, sentences_of

COMMAND = BUILD / "gpumemtrace"
PROGRAM = BUILD / "tests/takes_batch"


def search(vary, *words, fit="1GiB", options=(), **environment):
    return run_command("run", f"--vary={vary}", f"--fit={fit}", *options, "--", PROGRAM, *words,
                       env=clean_environment(**environment))  # fmt: skip


def found(vary, *words, status=0, options=(), **others):
    completed = search(vary, *words, options=("--json", *options), **others)
    assert completed.returncode == status, completed.stderr
    return json.loads(completed.stdout)


def tried(answer):
    return [(int(run["change"].split()[1]), run["end"]) for run in answer["runs"]]


def refused(vary, *words, status=2, **others):
    completed = search(vary, *words, **others)
    assert (completed.returncode, completed.stdout) == (status, "")
    return completed.stderr.splitlines()[-1]


# --- values that fit ---


@pytest.mark.parametrize(
    ("name", "words", "line"),
    [
        ("BATCH", [], "BATCH=624 {}"),
        ("batch", ["--batch=3"], "{} --batch=624"),
        ("batch", ["--batch", "auto"], "{} --batch 624"),
        ("batch", ["batch=4096"], "{} batch=624"),
    ],
    ids=["variable", "equals", "two words", "hydra"],
)
def test_the_largest_that_fits_is_found_to_the_last_one(name, words, line):
    answer = found(f"{name}:1..1000", *words)
    assert (answer["result"], answer["fits_value"], answer["refused_value"], answer["closed"]) == ("found", 624, 625, True)
    assert answer["line"] == line.format(PROGRAM)
    assert answer["answer"] == [
        f"{name} 624 is the largest of 1..1000 that fits on 1GiB.",
        "624 fits: peak 1.00 GiB of 1.00 GiB, 0 B spare, so little that a card whose context takes more may still refuse it; "
        "625 is out of memory."]  # fmt: skip


# the numbers are even, because cards hand out granules of 2 MiB
@pytest.mark.parametrize("largest", [2, 4, 16, 500, 622, 626, 998])
def test_wherever_the_limit_lies_the_answer_is_its_neighbour(largest):
    answer = found("BATCH:1..1000", fit=f"{400 + largest}MiB")
    assert (answer["fits_value"], answer["refused_value"]) == (largest, largest + 1)


@pytest.mark.parametrize(("step", "low", "best", "next_one"), [(8, 8, 624, 632), (100, 7, 607, 707), (3, 1, 622, 625)])
def test_a_step_leaves_values_out(step, low, best, next_one):
    answer = found(f"BATCH:{low}..1000/{step}")
    assert (answer["fits_value"], answer["refused_value"]) == (best, next_one)
    assert all((value - low) % step == 0 for value, _ in tried(answer))


def test_a_variable_that_is_set_is_put_in_its_place_for_each_run():
    assert found("BATCH:1..1000", BATCH=7)["fits_value"] == 624


def test_a_card_by_name_with_what_others_hold_is_the_room():
    assert found("BATCH:1..4000", fit="a100-1g.5gb,others=1GiB")["fits_value"] == 4864 - 1024 - 400


def test_all_that_was_asked_for_may_fit_and_is_seen_by_two_runs():
    answer = found("BATCH:1..600")
    assert tried(answer) == [(1, "fits"), (600, "fits")]
    assert answer["result"] == "all_fit" and answer["answer"][0].startswith("BATCH 600, the largest that was asked for, fits on 1GiB")


def test_a_range_of_one_value_is_one_run():
    assert tried(found("BATCH:600..600")) == [(600, "fits")]
    assert tried(found("BATCH:700..700", status=1)) == [(700, "no_memory")]


def test_of_one_rank_of_many_what_nccl_takes_is_said_to_be_missing():
    said = sentences_of(found("BATCH:1..600", options=["--rank=0/128"]))
    assert said[2].startswith("NCCL takes 0.5 to 1.7 GB more")
    assert len(sentences_of(found("BATCH:1..600"))) == 2


def test_a_value_that_fits_after_a_refusal_is_said_to_do_so():
    answer = found("BATCH:700..700", "caught")
    assert sentences_of(answer)[2] == "1 allocation failed for want of memory, and the program went on."


# --- no value that fits ---


def test_nothing_may_fit_which_both_ends_show():
    answer = found("BATCH:700..1000", status=1)
    assert tried(answer) == [(700, "no_memory"), (1000, "no_memory")]
    assert answer["answer"] == ["No BATCH was seen to fit on 1GiB: 700 is out of memory.", "1000 is out of memory."]
    assert (answer["result"], answer["fits_value"], answer["line"]) == ("none_fits", None, None)


def test_more_that_fits_where_less_does_not_is_said_and_not_searched():
    answer = found("BATCH:700..1000", "folded", status=1)
    assert answer["result"] == "not_monotonic" and len(answer["runs"]) == 2
    assert answer["answer"][1].startswith("1000 fits: ") and answer["answer"][1].endswith("; 700 is out of memory.")


def test_a_peak_that_falls_is_said():
    answer = found("BATCH:300..1000", "folded")
    assert answer["result"] == "all_fit" and answer["peak_falls"]
    assert sentences_of(answer)[2].startswith("The peak does not rise with BATCH: 300 had 700.00 MiB, and 1000 had 410.00 MiB")
    assert not found("BATCH:1..600")["peak_falls"]


def test_a_number_that_the_program_does_not_take_is_noticed_by_its_peaks():
    answer = found("BATCHES:1..1000")
    assert answer["peak_is_flat"]
    assert sentences_of(answer)[2].endswith("the program may not take BATCHES from its environment.")


def test_a_value_that_the_program_refuses_is_not_called_out_of_memory_and_a_step_is_advised():
    answer = found("BATCH:8..1000", "odd")
    assert (answer["fits_value"], answer["refused_value"]) == (504, 505)
    assert answer["answer"][0].startswith("BATCH 504 is the largest of 8..1000 that was seen to fit on 1GiB")
    assert answer["answer"][1].endswith("505 failed with status 3, not for want of the card's memory.")
    assert sentences_of(answer)[2].startswith("More may fit")


def test_a_smallest_value_that_fails_otherwise_ends_it_with_what_the_program_printed():
    completed = search("BATCH:1..1000", "broken")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "it printed: the data set is not there" in completed.stderr and "no other was tried" in completed.stderr


def test_a_program_without_a_cuda_call_is_refused():
    assert "no CUDA call was recorded" in refused("BATCH:1..8", "nothing")


# --- the runs ---


def test_max_runs_bounds_the_search_and_what_was_seen_is_no_more_than_that():
    answer = found("BATCH:1..1000", options=["--max-runs=4"])
    assert tried(answer) == [(1, "fits"), (1000, "no_memory"), (500, "fits"), (750, "no_memory")]
    assert answer["out_of_runs"] and not answer["closed"]
    assert "that was seen to fit" in answer["answer"][0] and "--max-runs=4 ended the search." in sentences_of(answer)
    assert found("BATCH:1..1000", options=["--max-runs=1"])["fits_value"] == 1


def test_each_run_has_a_line_on_stderr_and_none_when_it_is_to_be_quiet():
    lines = search("BATCH:1..1000").stderr.splitlines()
    assert all(line.startswith(f"gpumemtrace: run: run {number} of at most 16, BATCH ") for number, line in enumerate(lines, 1))
    assert search("BATCH:1..1000", GPUMEMTRACE_QUIET=1).stderr == ""


def test_traces_are_deleted_and_kept_where_that_is_asked_for(tmp_path):
    (tmp_path / "tmp").mkdir()
    found("BATCH:1..8", TMPDIR=tmp_path / "tmp")
    assert list((tmp_path / "tmp").iterdir()) == []
    for run in found("BATCH:1..8", options=[f"--keep={tmp_path}/kept"])["runs"]:
        assert run_command("peak", run["trace"]).returncode == 0
    assert "earlier search" in refused("BATCH:1..8", options=[f"--keep={tmp_path}/kept"])


def test_a_signal_ends_the_program_and_says_that_nothing_is_known(tmp_path):
    command = [COMMAND, "run", "--vary=BATCH:1..8", "--fit=1GiB", "--", PROGRAM, "waits"]
    with subprocess.Popen(command, env=clean_environment(TMPDIR=tmp_path), stderr=subprocess.PIPE, text=True) as started:
        while not list(tmp_path.glob("gpumemtrace-run.*/run1.*.db")):
            assert started.poll() is None
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == 130 and "before there was a result" in err
    assert list(tmp_path.iterdir()) == []


# --- wrong arguments ---


@pytest.mark.parametrize("vary", ["BATCH", "BATCH:8", "BATCH:0..8", "BATCH:9..8", "BATCH:1..8/0", "BATCH:1..", "BATCH:1..x", "BATCH:1/2..8"])
def test_a_range_that_is_none_is_refused(vary):
    assert "has no range; write NAME:LOW..HIGH" in refused(vary)


def test_a_name_that_is_nearly_an_options_is_refused():
    assert refused("bach:1..8", "--batch=4").endswith("no option of the program is called 'bach'; did you mean 'batch'?")


def test_fix_takes_no_range():
    completed = run_command("fix", "--limit=1GiB", "--vary=batch:1..8", "--", PROGRAM, env=clean_environment())
    assert completed.returncode == 2 and "'run --vary' takes a range" in completed.stderr


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--vary=BATCH:1..8"], "option '--vary' belongs to the search"),
        (["--fit=1GiB"], "option '--fit' belongs to the search"),
        (["--keep=x"], "option '--keep' belongs to the search"),
        (["--max-runs=3"], "option '--max-runs' belongs to the search"),
        (["--json"], "option '--json' belongs to the search"),
        (["--vary=BATCH:1..8", "--fit=any"], "has no limit, so everything fits"),
        (["--vary=BATCH:1..8", "--fit=h1000"], "did you mean 'h100'?"),
        (["--vary=BATCH:1..8", "--fit=1GiB", "--dry-run=2GiB"], "--fit names the cards"),
        (["--vary=BATCH:1..8", "--fit=1GiB", "-o", "a.db"], "--keep=FOLDER keeps them"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, part):
    completed = run_command("run", *options, "--", PROGRAM, env=clean_environment())
    assert completed.returncode == 2 and part in completed.stderr
