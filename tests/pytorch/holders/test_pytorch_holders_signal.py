# SPDX-License-Identifier: MIT
"""A signal asks for a walk over Python's objects, also while the program allocates nothing."""
import os
import signal
import sqlite3
import subprocess

import pytest

from support.pytorch_builds import BYTECODE, SCRIPTS
from support.run import BUILD, TIMEOUT_S, clean_environment, wait_for

SCRIPT = SCRIPTS / "keepers/signalled.py"
HOLDERS = "SELECT kind, chain, items_count FROM holders WHERE reason = 'asked'"


def rows(trace, query):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


@pytest.fixture
def signalled(torch_build, tmp_path):
    """Returns a function that runs the program, sends SIGUSR1, waits until look(output so far) is true, and returns what the
    program wrote to stdout and stderr."""

    def run(look, *arguments, name="USR1"):
        command = [BUILD / "gpumemtrace", "run", "-o", tmp_path / "trace.db", "--dry-run=16GiB", f"--holders-signal={name}",
                   "--", torch_build.python, SCRIPT, *arguments]  # fmt: skip
        with open(tmp_path / "stderr", "w+", encoding="utf-8") as said, subprocess.Popen(
            command, env=clean_environment(**BYTECODE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
        ) as process:
            os.kill(int(process.stdout.readline()), signal.SIGUSR1)
            look(process)
            printed, _ = process.communicate(timeout=TIMEOUT_S)
            assert process.returncode == 0
            said.seek(0)
            return printed, said.read()

    return run


@pytest.mark.parametrize("name", ["USR1", "SIGUSR1", str(int(signal.SIGUSR1))])
def test_a_signal_asks_for_a_walk(signalled, tmp_path, name):
    printed, said = signalled(lambda _: wait_for(lambda: rows(tmp_path / "trace.db", HOLDERS)), name=name)
    assert printed == "ended 3\n"
    assert "GPUMEMTRACE_HOLDERS_SIGNAL" not in said
    assert rows(tmp_path / "trace.db", HOLDERS) == [("list", "kept[*]", 3)] * 3


def test_a_signal_that_the_program_handles_stays_its_own(signalled, tmp_path):
    def look(process):
        assert process.stdout.readline() == "own handler\n"

    printed, said = signalled(look, "own")
    assert printed == "ended 3\n"
    assert said.count("asks for no walk over Python's objects, because the program has a handler for this signal") == 1
    assert not rows(tmp_path / "trace.db", HOLDERS)


@pytest.mark.parametrize("name", ["SEGV", "9", "999999999999999999999"])
def test_a_signal_that_cannot_be_taken_is_named_once(dry_run, name):
    recording = dry_run(str(SCRIPT), GPUMEMTRACE_HOLDERS_SIGNAL=name)
    assert recording.completed.stderr.count(f"GPUMEMTRACE_HOLDERS_SIGNAL={name} is no signal that can ask for a walk") == 1
    assert recording.completed.stdout.endswith("ended 3\n")
