# SPDX-License-Identifier: MIT
"""Runs a program with the recorder and without it, for the fixtures of tests/recorder/conftest.py."""
import collections
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from support.run import TIMEOUT_S, run_command

MIB = 1 << 20
ALLOCATIONS = "SELECT count(*) FROM event WHERE kind=1 AND result=0 AND nested=0"
FREES = "SELECT count(*) FROM event WHERE kind=2 AND result=0 AND nested=0"

Run = collections.namedtuple("Run", "status stdout stderr")


class Folder:
    """The folder of a program that ran under the recorder, with the program's traces and the files beside them."""

    def __init__(self, path):
        self.path = path
        self.trace = path / "trace.db"

    def names(self):
        return sorted(entry.name for entry in self.path.glob("trace*"))

    def rows(self, query, name="trace.db"):
        with sqlite3.connect(f"file:{self.path / name}?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def count(self, query, name="trace.db"):
        return self.rows(query, name)[0][0]

    def report(self):
        completed = run_command("report", self.trace, "--json")
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)


def run(arguments, environment, folder):
    """Runs the program in a process group of its own, so that a time-out also ends the program's children. Returns a
    Run."""
    with subprocess.Popen(
        [str(argument) for argument in arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            pytest.fail(f"{arguments[1:]} hung; it said: {stdout}{stderr}")
    return Run(process.returncode, stdout, stderr)


def meta(folder, key, name="trace.db"):
    return folder.count(f"SELECT value FROM meta WHERE key='{key}'", name)


def assert_all_there(folder, allocations, frees):
    """Checks that the trace is complete. This function runs `report` first, because an exec leaves a ring beside the
    trace, and `report` reads that ring."""
    assert folder.report()["trace"]["complete"] is True
    assert folder.names() == ["trace.db"]
    assert meta(folder, "complete") == 1
    assert meta(folder, "lost_events") == 0
    assert (folder.count(ALLOCATIONS), folder.count(FREES)) == (allocations, frees)
