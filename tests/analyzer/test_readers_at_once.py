# SPDX-License-Identifier: MIT
"""Several commands open the trace of a killed process at the same time. All of them must print the same full answer."""
import fcntl
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

import pytest

from support.run import BUILD, LIBRARY, SLOWER, TIMEOUT_S, clean_environment, simulator_environment

# The number of samples of free memory, which become ever more rare after the first allocation, because free memory
# never falls.
LOOKS = 14
EVENTS = 140_000 + LOOKS
FOLD_LOCK_BYTE = 1 << 40  # as in trace/fold_lock.c


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Makes the folder with the trace and the ring of a process that killed itself."""
    folder = tmp_path_factory.mktemp("killed")
    environment = simulator_environment(LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=folder / "trace.db")
    done = subprocess.run([BUILD / "tests/dies_with_events"], env=environment, capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == -signal.SIGKILL
    assert (folder / "trace.db-ring.0").exists()
    return folder


@pytest.fixture
def copy_of(killed, tmp_path):
    """Returns copy_of("a"): the path of a fresh copy of the killed process's trace and ring."""

    def copy(name):
        shutil.copytree(killed, tmp_path / name)
        return tmp_path / name / "trace.db"

    return copy


def start(trace, command="info"):
    return subprocess.Popen(
        [BUILD / "gpumemtrace", command, trace, "--json"], env=clean_environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def answer_of(process):
    out, said = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, said) == (0, "")
    return {**json.loads(out)["trace"], "path": ""}


@pytest.fixture
def full(copy_of):
    """Returns the answer of a command that runs alone."""
    trace = copy_of("alone")
    answer = answer_of(start(trace))
    assert (answer["events"], answer["recording"]) == (EVENTS, False)
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]
    return answer


@pytest.mark.parametrize("readers", [2, 6, 20])
def test_readers_that_start_together_give_the_same_full_answer(copy_of, full, readers):
    trace = copy_of("together")
    answers = [answer_of(process) for process in [start(trace) for _ in range(readers)]]
    assert answers == [full] * readers
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_after_a_reader_was_killed_while_it_folded_the_answer_is_full(copy_of, full):
    chance = random.Random(3)
    for attempt in range(5):
        trace = copy_of(f"killed-{attempt}")
        readers = [start(trace) for _ in range(2)]
        time.sleep(chance.uniform(0, 0.15) * SLOWER)
        readers[0].kill()
        readers[0].communicate()
        assert [answer_of(readers[1]), answer_of(start(trace))] == [full] * 2


def test_a_reader_that_folds_and_stands_still_holds_up_nobody(copy_of, full):
    """A process holds the lock but does not fold the ring. The other readers read the ring and leave it unchanged."""
    trace = copy_of("stuck")
    ring = trace.with_name("trace.db-ring.0")
    with open(ring, "r+b") as file:
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, FOLD_LOCK_BYTE, 1, 0)
        fcntl.fcntl(file, 37, lock)  # F_OFD_SETLK
        before = ring.read_bytes()
        assert answer_of(start(trace)) == full
        assert ring.read_bytes() == before
    assert answer_of(start(trace)) == full
    assert not ring.exists()

