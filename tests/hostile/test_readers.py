# SPDX-License-Identifier: MIT
"""Many commands read the trace of a killed process at once. One command folds the ring into the trace, and each command
answers as if it ran alone."""
import shutil
import subprocess

import pytest

from hostile.conftest import ALL, run_and_kill
from support.endings import difference
from support.run import BUILD, TIMEOUT_S, clean_environment

pytestmark = pytest.mark.skipif(not ALL, reason="tests/analyzer/test_readers_at_once.py is the small part")
LINES = """
    report trace.db --json | peak trace.db --json | info trace.db --json | timeline trace.db --json | leaks trace.db --json
    frag trace.db --json | phases trace.db | oom trace.db | check trace.db --max-peak=1TiB --allow-incomplete | info trace.db
    report trace.db trace.db --json
""".replace("\n", "|").split("|")[1:-1]


@pytest.fixture(scope="module")
def busy_folder(tmp_path_factory):
    """Returns the folder of a process that was killed while busy: many of its events are still in the ring."""
    folder = tmp_path_factory.mktemp("busy")
    run_and_kill(folder, "dies_with_events", GPUMEMTRACE_STACKS="none")
    return folder


def start(folder, line):
    return subprocess.Popen(
        [BUILD / "gpumemtrace", *line.split()], env=clean_environment(), cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def answer(process):
    stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, stdout + stderr


@pytest.fixture(scope="module")
def alone(busy_folder, tmp_path_factory):
    """Returns {line: its answer on a trace that no other command reads}."""
    folder = tmp_path_factory.mktemp("alone") / "copy"
    shutil.copytree(busy_folder, folder)
    return {line: answer(start(folder, line)) for line in LINES}


@pytest.mark.parametrize("readers", [2, 6, 20])
def test_readers_of_a_killed_trace_answer_as_if_alone(busy_folder, copy_of, alone, chance, readers):
    for round_ in range(120 // readers):
        folder = copy_of(busy_folder)
        lines = [chance.choice(LINES) for _ in range(readers)]
        started = [start(folder, line) for line in lines]
        for line, process in zip(lines, started):
            status, said = answer(process)
            wrong = difference(alone[line][1], said) if said != alone[line][1] else ""
            assert (status, wrong) == (alone[line][0], ""), f"round {round_}, {readers} readers: {line}"
        assert [path.name for path in folder.iterdir()] == ["trace.db"]
