# SPDX-License-Identifier: MIT
"""Fixtures of the hostile tests: how much to test, the random generator, and the traces that tests corrupt."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import zlib

import pytest

from support.made_traces import MADE
from support.run import BUILD, LIBRARY, TIMEOUT_S, simulator_environment
from support.tracefile import Trace

ALL = os.environ.get("GPUMEMTRACE_HOSTILE") == "all"
SEED = int(os.environ.get("GPUMEMTRACE_SEED") or 1)
# Hand-written traces that can be appended to each other in one file.
IN_ONE_FILE = """
    many_sites pool_with_segments two_pools phases_in_phases growing_steps deep_stack native_stack exhausted_card
    failures_of_every_kind memory_of_every_kind looked_up_but_not_recorded names_that_need_quoting phases_from_stacks
""".split()


def pytest_report_header():
    return f"hostile: seed {SEED}, {'everything' if ALL else 'a small part'}"


@pytest.fixture
def effort():
    """effort(small, everything) returns `everything` in `make check-hostile`, and `small` in other runs."""
    return lambda small, everything: everything if ALL else small


@pytest.fixture
def chance(request):
    """Returns a random generator that depends on the seed and the test's name."""
    return random.Random(SEED * 1000003 + zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session")
def made_trace(tmp_path_factory):
    """Returns a small trace that holds every kind of content."""
    trace = Trace(tmp_path_factory.mktemp("made") / "trace.db")
    trace.exit = lambda *_: None
    for name in IN_ONE_FILE:
        MADE[name][0](trace)
    for table in ("device", "coverage", "module"):
        trace.rows[table] = list({row[0]: row for row in trace.rows[table]}.values())
    return trace.write()


@pytest.fixture(scope="session")
def killed_folder(tmp_path_factory):
    """Returns a folder with trace.db of a killed process and the files that the process left beside it."""
    folder = tmp_path_factory.mktemp("killed")
    run_and_kill(folder, "process_end", "signal")
    return folder


@pytest.fixture(scope="session")
def killed_plain(tmp_path_factory):
    """Returns a folder like killed_folder, but the trace has no stacks, because the names in stacks are missing when
    file calls fail."""
    folder = tmp_path_factory.mktemp("killed-plain")
    run_and_kill(folder, "process_end", "signal", GPUMEMTRACE_STACKS="none")
    return folder


def run_and_kill(folder, program, *arguments, **settings):
    environment = simulator_environment(
        LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=folder / "trace.db", **settings
    )
    killed = subprocess.run(
        [BUILD / "tests" / program, *map(str, arguments)],
        env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert killed.returncode in (-signal.SIGTERM, -signal.SIGKILL), killed.stderr
    assert (folder / "trace.db-ring.0").exists()


@pytest.fixture
def copy_of(tmp_path):
    """copy_of(folder) returns a new copy of the folder and removes the previous copy. The copy is in /dev/shm if
    possible, so that a commit does not wait for the disk."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="hostile-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path))

    def copy(folder):
        there = place / "copy"
        shutil.rmtree(there, ignore_errors=True)
        shutil.copytree(folder, there)
        return there

    yield copy
    shutil.rmtree(place, ignore_errors=True)
