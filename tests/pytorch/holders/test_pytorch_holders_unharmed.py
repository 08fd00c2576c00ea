# SPDX-License-Identifier: MIT
"""Walks over Python's objects do no harm: to programs that are killed, that fork, whose other threads go on, that watch what
Python does, or that have several interpreters."""
import ctypes.util
import signal

import pytest

from support.pytorch_builds import BYTECODE, SCRIPTS
from support.run import Recording, clean_environment, load_json, run_command

KEEPERS = SCRIPTS / "keepers"
EVENTS = "SELECT kind, address, size_bytes FROM event WHERE memory = 10 ORDER BY seq"
WALKS = "SELECT count(*) FROM walk WHERE reason = 'asked' AND stopped IS NULL"


def test_a_program_that_is_killed_in_a_walk_loses_no_event(dry_run):
    script = str(KEEPERS / "killed.py")
    walked, alone = dry_run(script, check=False), dry_run(script, "alone", check=False)
    for recording, printed in (walked, "killed in a walk\n"), (alone, "killed without a walk\n"):
        assert recording.completed.returncode == 128 + signal.SIGKILL
        assert recording.completed.stdout == printed
        assert load_json("info", recording.trace)["trace"]["lost_events"] == 0
    assert walked.rows(EVENTS) == alone.rows(EVENTS)
    assert len(walked.rows(EVENTS)) == 300 + 100


def test_a_thread_goes_on_during_walks_and_its_children_are_as_usual(dry_run):
    recording = dry_run(str(KEEPERS / "beside.py"))
    asked, allocated, forks, was_walking, good = recording.completed.stdout.split()
    assert (was_walking, good) == ("True", forks)
    assert recording.rows("SELECT count(*) FROM event WHERE memory = 10 AND kind = 1") == [(int(allocated) + 1,)]
    walks = recording.rows("SELECT reason, stopped FROM walk")
    assert walks.count(("asked", None)) + walks.count(("asked", "time")) == int(asked), walks


def test_a_walk_does_not_wait_for_the_turns_of_other_threads_if_they_are_long(dry_run):
    recording = dry_run(str(KEEPERS / "patient.py"))
    assert recording.completed.stdout == "3600.0\n"
    assert recording.rows(WALKS) == [(1,)]


def test_a_walk_reads_no_tuple_that_c_code_still_fills(dry_run):
    recording = dry_run(str(KEEPERS / "unfinished.py"))
    assert recording.completed.stdout == "2 10\n"
    assert recording.rows(WALKS) == [(3,)]


def test_a_walk_leaves_no_object_of_its_own_behind(dry_run):
    recording = dry_run(str(KEEPERS / "left.py"))
    assert recording.completed.stdout == "0 0\n"
    assert recording.rows("SELECT count(*) >= 12 FROM walk WHERE reason = 'asked'") == [(1,)]


@pytest.mark.parametrize("way", ["trace", "collect"])
def test_a_walk_calls_no_function_that_watches_what_python_does(dry_run, way):
    script = str(KEEPERS / "watched.py")
    walked = dry_run(script, way, GPUMEMTRACE_VALUES="none")
    alone = dry_run(script, way, GPUMEMTRACE_VALUES="none", GPUMEMTRACE_NO_HOLDERS="1")
    assert walked.rows(WALKS) == [(4,)]
    assert walked.completed.stdout == alone.completed.stdout


@pytest.mark.parametrize("event", ["compile", "gc.get_referents", "sys._getframe", "ctypes.cdata"])
def test_a_program_that_forbids_what_a_walk_does_runs_as_without_a_walk(dry_run, event):
    script = str(KEEPERS / "watched.py")
    walked = dry_run(script, event, GPUMEMTRACE_VALUES="none")
    assert walked.completed.stdout == "110 []\n"
    assert "Traceback" not in walked.completed.stderr
    assert walked.rows("SELECT count(*) FROM event WHERE memory = 10 AND kind = 1") == [(110,)]


def test_a_walk_that_may_open_no_file_finds_the_holders_that_need_none(dry_run):
    walked = dry_run(str(KEEPERS / "watched.py"), "open", GPUMEMTRACE_VALUES="none")
    assert walked.completed.stdout == "110 []\n"
    assert walked.rows("SELECT DISTINCT stopped FROM walk") == [(None,)]
    assert walked.rows("SELECT DISTINCT chain FROM holders") == [("kept[*]",)]


def test_a_subinterpreter_makes_no_walk_while_it_holds_the_lock(dry_run):
    recording = dry_run(str(KEEPERS / "subinterpreter.py"))
    assert recording.completed.stdout == "CDLL in a subinterpreter\nPyDLL in a subinterpreter\ndone\n"
    line = "no walk over Python's objects: another interpreter of the program holds the GIL"
    assert recording.completed.stderr.count(line) == 1
    assert recording.rows(WALKS) == [(2,)]


EMBEDDED = """
import ctypes, sys
sys.argv = ["embedded"]
import torch
kept = []
for _ in range(100):
    kept.append(torch.zeros(1 << 16, device="cuda"))
ctypes.CDLL(None).gpumemtrace_holders()
"""


def test_an_embedded_interpreter_is_walked_over(torch_build, program, tmp_path):
    library, packages = ctypes.util.find_library("python3.11"), torch_build.folder / "packages"
    if not library or not packages.exists():
        pytest.skip("no libpython3.11 to load here, or no wheel for it")
    trace = tmp_path / "trace.db"
    completed = run_command(
        "run", "--dry-run=16GiB", "-o", trace, "--", program("stack_embedded"), library, "close", EMBEDDED,
        env=clean_environment(PYTHONPATH=packages, **BYTECODE),
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    recording = Recording(completed, trace)
    assert recording.rows("SELECT DISTINCT kind, chain, items_count FROM holders WHERE reason = 'asked'") == [
        ("list", "kept[*]", 100)
    ]
    assert recording.rows("SELECT count(*) FROM walk WHERE reason = 'end' AND stopped IS NULL") == [(1,)]
