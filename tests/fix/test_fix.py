# SPDX-License-Identifier: MIT
"""Tests `gpumemtrace fix`: the settings that it tries, their order, and that it prints only a command that fitted in a
dry run. The program is tests/programs/calls/takes_batch.c, which takes 100 MiB and batch × sequence MiB, beside a
context of 300 MiB."""
import json
import pathlib
import signal
import subprocess

import pytest

from support.run import BUILD, TIMEOUT_S, clean_environment, run_command, sentences_of, simulator_environment, wait_for
from support.tracefile import MIB

COMMAND = BUILD / "gpumemtrace"
PROGRAM = BUILD / "tests/takes_batch"
OWN_MIB = 400  # the program's 100 MiB and the context
GIB_MIB = 1024


def fix(*words, **environment):
    return run_command("fix", *words, env=clean_environment(**environment))


def found(*words, status=0, **environment):
    """Returns the answer as JSON."""
    completed = fix("--json", *words, **environment)
    assert completed.returncode == status, completed.stderr
    return json.loads(completed.stdout)


def refused(*words, status=2, **environment):
    """Returns the only line of output, which is on stderr."""
    completed = fix(*words, **environment)
    assert (completed.returncode, completed.stdout) == (status, "")
    (line,) = completed.stderr.splitlines()
    assert line.startswith("gpumemtrace: fix: ")
    return line


def ends(answer):
    return [(run["change"], run["end"]) for run in answer["runs"]]


def paste(line, spec, folder):
    """Runs the line in a dry run on the same card, as if a user had pasted it into a shell."""
    script = folder / "line.sh"
    script.write_text(f"exec env {line}\n")
    return subprocess.run([COMMAND, "run", "-o", folder / "pasted.db", f"--dry-run={spec}", "--", "sh", script],
                          env=clean_environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # fmt: skip


# --- a program that fits ---


def test_a_program_that_fits_is_run_once_and_nothing_is_tried():
    answer = found("--limit=1GiB", "--", PROGRAM, "--batch=10")
    assert answer["answer"] == ["Fits: peak 410.00 MiB of 1.00 GiB, 614.00 MiB spare; nothing was tried."]
    assert ends(answer) == [("nothing: as it was", "fits")]
    assert (answer["remedies"], answer["not_tried"]) == ([], [])


def test_a_program_that_catches_the_failure_and_goes_on_fits_and_that_is_said():
    answer = found("--limit=1GiB", "--", PROGRAM, "--batch=4096", "caught")
    assert answer["answer"][1].endswith("3 allocations failed for want of memory, and the program went on.")
    assert len(answer["runs"]) == 1


# --- numbers ---

WORDS = [
    (["--batch=4096"], "batch", ["--batch={}"]),
    (["--batch", "4096"], "--batch", ["--batch", "{}"]),
    (["-b", "4096"], "b", ["-b", "{}"]),
    (["batch=4096"], "batch", ["batch={}"]),
    (["--batch=7", "--batch=4096"], "batch", ["--batch=7", "--batch={}"]),
]


@pytest.mark.parametrize("words, name, as_pasted", WORDS, ids=["equals", "two words", "letter", "hydra", "twice"])
def test_the_number_of_an_option_is_lowered_to_what_fits(tmp_path, words, name, as_pasted):
    answer = found("--limit=1GiB", f"--vary={name}", "--", PROGRAM, *words)
    (remedy,) = answer["remedies"]
    value = int(remedy["change"].split()[1])
    assert remedy["line"] == " ".join([str(PROGRAM), *as_pasted]).format(value)
    assert remedy["peak_bytes"] == (OWN_MIB + value) * MIB
    assert remedy["spare_bytes"] == (GIB_MIB - OWN_MIB - value) * MIB
    assert 624 * 31 / 32 < value <= 624 < remedy["refused_value"]
    assert paste(remedy["line"], "1GiB", tmp_path).returncode == 0


def test_the_largest_that_fits_is_found_to_the_last_one_where_numbers_are_small():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=64", "--sequence=32")
    (remedy,) = answer["remedies"]
    assert (remedy["change"], remedy["refused_value"]) == ("batch 19", 20)
    assert answer["answer"][0] == "Out of memory; fits with batch 19."
    assert answer["answer"][-1].startswith("Run it with batch 19, seen in one run: peak 1008.00 MiB of 1.00 GiB")


def test_the_number_of_a_variable_is_lowered_and_stands_before_the_line(tmp_path):
    (remedy,) = found("--limit=1GiB", "--vary=BATCH", "--", PROGRAM, BATCH=1024)["remedies"]
    assert remedy["kind"] == "number"
    assert remedy["line"] == f"BATCH={remedy['change'].split()[1]} {PROGRAM}"
    assert paste(remedy["line"], "1GiB", tmp_path).returncode == 0


def test_a_number_that_does_not_fit_as_1_is_ruled_out_by_one_run():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=4096", "--sequence=4096", status=1)
    assert ends(answer) == [("nothing: as it was", "no_memory"), ("batch 1", "no_memory")]
    assert answer["answer"][0] == "Out of memory on 1.00 GiB, and no remedy was found: the one change that was tried does not fit."


def test_a_value_that_the_program_refuses_is_neither_a_remedy_nor_the_end_of_the_search():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "odd")
    assert ("batch 1", "failed") in ends(answer)
    (remedy,) = answer["remedies"]
    assert int(remedy["change"].split()[1]) % 8 == 0 and remedy["refused_value"] > 624


def test_each_of_several_numbers_is_lowered_by_itself(tmp_path):
    answer = found("--limit=1GiB", "--vary=batch", "--vary=sequence", "--max-runs=40", "--", PROGRAM, "--batch=32",
                   "--sequence=64")  # fmt: skip
    assert [remedy["kind"] for remedy in answer["remedies"]] == ["number", "number"]
    assert [remedy["change"] for remedy in answer["remedies"]] == ["batch 9", "sequence 19"]
    for remedy in answer["remedies"]:
        assert paste(remedy["line"], "1GiB", tmp_path).returncode == 0


def test_several_numbers_are_not_lowered_together():
    answer = found("--limit=1GiB", "--vary=batch", "--vary=sequence", "--", PROGRAM, "--batch=4096", "--sequence=4096", status=1)
    assert [run["change"] for run in answer["runs"]] == ["nothing: as it was", "batch 1", "sequence 1"]
    assert answer["remedies"] == []


def test_what_grows_with_the_square_is_found_as_well():
    answer = found("--limit=1GiB", "--vary=sequence", "--", PROGRAM, "--sequence=64", "quadratic")
    (remedy,) = answer["remedies"]
    assert (remedy["change"], remedy["refused_value"]) == ("sequence 24", 25)


def test_no_remedy_is_printed_that_was_not_run_and_did_not_fit():
    for words in (["--batch=700"], ["--batch=5000"], ["--batch=1024", "odd"], ["--batch=300", "--sequence=300"]):
        completed = fix("--json", "--limit=1GiB", "--vary=batch", "--", PROGRAM, *words)
        answer = json.loads(completed.stdout)
        assert completed.returncode == (0 if answer["remedies"] else 1)
        for remedy in answer["remedies"]:
            run = answer["runs"][remedy["run"] - 1]
            assert (run["end"], run["change"], run["spare_bytes"]) == ("fits", remedy["change"], remedy["spare_bytes"])


# --- the runs ---


def test_max_runs_bounds_the_search_and_what_was_found_until_then_counts():
    answer = found("--limit=1GiB", "--vary=batch", "--max-runs=5", "--", PROGRAM, "--batch=4096")
    assert len(answer["runs"]) == 5 and answer["out_of_runs"]
    (remedy,) = answer["remedies"]
    assert remedy["change"] == "batch 512"


def test_one_run_says_that_nothing_was_tried():
    answer = found("--limit=1GiB", "--vary=batch", "--max-runs=1", "--", PROGRAM, "--batch=4096", status=1)
    assert "--max-runs=1 ended the search." in sentences_of(answer)


def test_each_run_has_a_line_on_stderr_and_none_when_it_is_to_be_quiet():
    words = ("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000")
    told = fix(*words)
    runs = told.stderr.splitlines()
    assert all(line.startswith(f"gpumemtrace: fix: run {number} of at most 16, ") for number, line in enumerate(runs, 1))
    assert "as it is: out of memory (" in runs[0]
    quiet = fix(*words, GPUMEMTRACE_QUIET=1)
    assert quiet.stderr == "" and quiet.stdout


def test_what_the_program_prints_stays_out_of_the_answer():
    completed = fix("--limit=1GiB", "--", PROGRAM, "--batch=4096")
    assert "blocks" not in completed.stdout + completed.stderr


def test_traces_are_deleted_and_kept_where_that_is_asked_for(tmp_path):
    (tmp_path / "tmp").mkdir()
    words = ("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000")
    found(*words, TMPDIR=tmp_path / "tmp")
    assert list((tmp_path / "tmp").iterdir()) == []
    answer = found(f"--keep={tmp_path}/kept", *words, TMPDIR=tmp_path / "tmp")
    for run in answer["runs"]:
        assert run_command("peak", run["trace"]).returncode == 0
    assert "earlier search" in refused(f"--keep={tmp_path}/kept", *words)


def test_nothing_is_written_where_the_program_runs(tmp_path):
    completed = subprocess.run([COMMAND, "fix", "--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000"], cwd=tmp_path,
                               env=clean_environment(), capture_output=True, timeout=TIMEOUT_S, check=False)  # fmt: skip
    assert completed.returncode == 0 and list(tmp_path.iterdir()) == []


# --- other results ---


def test_a_failure_that_is_caught_printed_and_ends_with_status_0_is_no_fit():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "hidden")
    assert answer["runs"][0]["end"] == "no_memory" and answer["runs"][0]["exit_status"] == 0
    assert answer["remedies"][0]["refused_value"] > 624


def test_a_failure_after_which_the_program_allocates_and_dies_is_one_of_memory():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "rescued")
    assert answer["runs"][0]["end"] == "no_memory" and len(answer["remedies"]) == 1


def test_another_failure_is_said_with_what_the_program_printed():
    completed = fix("--limit=1GiB", "--", PROGRAM, "broken")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "it printed: the data set is not there" in completed.stderr
    assert "status 3, but no allocation had failed" in completed.stderr


def test_a_program_that_a_signal_kills_is_not_one_that_lacks_memory():
    completed = fix("--limit=1GiB", "--", PROGRAM, "killed")
    assert completed.returncode == 2 and "was killed by signal 9 in a dry run" in completed.stderr


def test_a_change_whose_run_crashed_is_run_once_more(tmp_path):
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "races", RACED=tmp_path / "raced")
    assert ends(answer)[1:3] == [("batch 1", "failed"), ("batch 1", "fits")]
    assert answer["remedies"][0]["change"] == "batch 616"


def test_a_program_without_a_cuda_call_has_nothing_to_fix():
    completed = fix("--", PROGRAM, "nothing")
    assert completed.returncode == 2 and "no CUDA call was recorded" in completed.stderr


def test_a_program_that_is_not_there_is_127():
    assert "is not in PATH" in refused("--", "no-such-program-anywhere", status=127)


# --- wrong arguments ---


def test_a_name_that_is_nowhere_is_refused_with_the_nearest():
    assert refused("--vary=bach", "--", PROGRAM, "--batch=4").endswith("did you mean 'batch'?")
    assert refused("--vary=BATCHES", "--", PROGRAM, BATCH=4).endswith("did you mean 'BATCH'?")
    assert "with the value to start from" in refused("--vary=microbatches", "--", PROGRAM)


@pytest.mark.parametrize("value", ["auto", "0", "-4", "1.5", "32k", ""])
def test_a_value_that_is_no_whole_number_is_refused(value):
    line = refused("--vary=batch", "--", PROGRAM, f"--batch={value}")
    assert f"'batch' is '{value}', not a whole number from 1 on" in line


def test_a_name_that_means_two_options_is_refused():
    line = refused("--vary=batch_size", "--", PROGRAM, "train.batch_size=4", "test.batch-size=8")
    assert "'train.batch_size' and 'test.batch-size'" in line


def test_the_last_part_of_a_name_with_dots_will_do():
    answer = found("--limit=1GiB", "--vary=batch", "--", "sh", "-c", f'exec {PROGRAM} "${{0#my.}}"', "my.batch=1000")
    assert answer["remedies"][0]["line"].endswith(f" my.batch={answer['remedies'][0]['change'].split()[1]}")


def test_a_whole_name_comes_before_the_last_part_of_another():
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "other.batch=7")
    assert answer["remedies"][0]["line"].endswith(" other.batch=7")


# --- the card ---


def test_a_limit_beside_a_card_leaves_all_else_of_the_card():
    answer = found("--gpu=h100", "--limit=2GiB", "--", PROGRAM, "--batch=4")
    (device,) = answer["devices"]
    assert (device["name"], device["total_bytes"]) == ("Simulated NVIDIA H100 80GB HBM3", 2048 * MIB)


def test_a_slice_of_a_card_can_be_the_card():
    answer = found("--gpu=a100-1g.5gb", "--vary=batch", "--", PROGRAM, "--batch=8000")
    (remedy,) = answer["remedies"]
    assert remedy["room_bytes"] < 5 << 30 and remedy["spare_bytes"] < 300 * MIB


def test_what_others_hold_is_no_room():
    answer = found("--gpu=2GiB,others=1GiB", "--vary=batch", "--", PROGRAM, "--batch=64", "--sequence=32")
    (remedy,) = answer["remedies"]
    assert (remedy["change"], remedy["room_bytes"]) == ("batch 19", 1024 * MIB)


@pytest.mark.parametrize(
    "options, part",
    [
        (["--gpu=t4", "--limit=20GiB"], "20.00 GiB is more than 't4' has, 14.75 GiB"),
        (["--gpu=any"], "'any' has no limit"),
        (["--gpu=h1000"], "did you mean 'h100'?"),
        (["--limit=200MiB"], "leave no memory"),
        (["--max-runs=0"], "--max-runs"),
    ],
)
def test_a_card_that_cannot_be_is_refused(options, part):
    assert part in refused(*options, "--", PROGRAM)


# --- stopping ---


def start_waiting(tmp_path, *words):
    environment = clean_environment(TMPDIR=tmp_path)
    return subprocess.Popen([COMMAND, "fix", "--limit=1GiB", *words], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)  # fmt: skip


def wait_for_trace(tmp_path, number):
    """Waits until the run's trace exists; returns the process id in the trace's name."""
    (trace,) = wait_for(lambda: list(tmp_path.glob(f"gpumemtrace-fix.*/run{number}.*.db")), what="a trace")
    return int(trace.name.split(".")[1])


def is_running(pid):
    status = pathlib.Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_and_says_what_was_found(tmp_path, number):
    started = start_waiting(tmp_path, "--vary=batch", "--", PROGRAM, "--batch=4096", "waits")
    pid = wait_for_trace(tmp_path, 2)
    started.send_signal(number)
    out, _ = started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == 128 + number and not is_running(pid)
    assert "no change was tried to its end" in out and f"Stopped by signal {int(number)} in run 2." in out
    assert list(tmp_path.iterdir()) == []


def test_a_signal_in_the_first_run_leaves_nothing(tmp_path):
    started = start_waiting(tmp_path, "--", PROGRAM, "waits")
    pid = wait_for_trace(tmp_path, 1)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=TIMEOUT_S)
    assert (started.returncode, out) == (130, "") and "before there was a result" in err
    assert not is_running(pid) and list(tmp_path.iterdir()) == []


# --- the offer ---


def record_death(tmp_path, *words, spec="1GiB"):
    trace = tmp_path / "dead.db"
    completed = run_command("run", "-o", trace, f"--dry-run={spec}", "--", PROGRAM, *words)
    assert completed.returncode == 1
    return trace, completed.stderr.splitlines()[-1]


def test_the_last_line_of_a_dead_run_and_oom_offer_the_command(tmp_path):
    trace, last = record_death(tmp_path, "--batch=4096")
    line = f"gpumemtrace fix --gpu=1GiB -- {PROGRAM} --batch=4096"
    assert last.endswith(line)
    assert json.loads(run_command("oom", "--json", trace).stdout)["next"] == line
    assert run_command(*line.split()[1:]).returncode == 1


@pytest.mark.parametrize("specs", [("2GiB", "1GiB"), ("1GiB", "2GiB")])
def test_programs_refused_on_several_cards_are_offered_the_largest(tmp_path, specs):
    script = "; ".join(f"GPUMEMTRACE_SIM={spec} {PROGRAM} --batch=4096" for spec in specs)
    completed = run_command("run", "-o", tmp_path / "dead.db", "--", "sh", "-c", script, env=simulator_environment())
    assert completed.returncode == 1 and "gpumemtrace fix --limit=2048MiB -- " in completed.stderr.splitlines()[-1]


def test_what_a_shell_would_read_otherwise_is_offered_in_quotes_or_not_at_all(tmp_path):
    trace, last = record_death(tmp_path, "--batch=4096", "it's")
    assert last.endswith(r"--batch=4096 'it'\''s'")
    assert json.loads(run_command("oom", "--json", trace).stdout)["next"].startswith("gpumemtrace peak ")


def test_a_run_that_ends_well_or_otherwise_is_offered_nothing(tmp_path):
    for way, status in (("caught", 0), ("broken", 3)):
        completed = run_command("run", "-o", tmp_path / "a.db", "--dry-run=1GiB", "--", PROGRAM, "--batch=4096", way)
        assert completed.returncode == status and "gpumemtrace fix" not in completed.stderr


# --- printed text ---


def test_the_line_to_paste_is_not_wrapped():
    text = fix("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=4096", *(f"word{number}=x" for number in range(40))).stdout
    (line,) = [line for line in text.splitlines() if str(PROGRAM) in line and "word0" in line and "program" not in line]
    assert line.rstrip().endswith("word39=x")


def test_arguments_with_spaces_can_be_pasted(tmp_path):
    answer = found("--limit=1GiB", "--vary=batch", "--", PROGRAM, "--batch=1000", "--note=two words", "it's=$HOME")
    assert paste(answer["remedies"][0]["line"], "1GiB", tmp_path).returncode == 0
    assert r"'--note=two words' 'it'\''s=$HOME'" in answer["remedies"][0]["line"]


def test_a_program_that_is_no_python_gets_no_setting_of_pytorch():
    answer = found("--limit=1GiB", "--", PROGRAM, "--batch=4096", status=1)
    assert len(answer["runs"]) == 1 and answer["ruled_out"] == []
    assert "--vary=batch tries smaller values." in sentences_of(answer)


def test_numbers_whose_names_are_those_of_sizes_are_offered_to_be_varied():
    words = ("--steps=9", "--seq-len", "32", "--batch-size=64", "train.batch_size=64", "--bs=1", "--block=x", "big")
    answer = found("--limit=1GiB", "--", PROGRAM, *words, "--batch=4096", BATCHES=16, status=1)
    assert "--vary=seq-len --vary=batch-size --vary=train.batch_size tries smaller values." in sentences_of(answer)
    answer = found("--limit=1GiB", "--", PROGRAM, BATCH="4096", status=1)
    assert "--vary=BATCH tries smaller values." in sentences_of(answer)
