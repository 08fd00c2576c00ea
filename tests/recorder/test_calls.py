# SPDX-License-Identifier: MIT
"""A call has the same effect on its caller with the recorder as without it. Each test first shows that the program
would notice a difference. For this, it runs the program under a naive library that makes a mistake that other preloaded
tools make."""
import re
import sqlite3
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, ROOT, TIMEOUT_S, compile_library, simulator_environment
from support.twice import ALLOCATIONS

OURS = BUILD / "libgpumemtrace.so"
NAIVE = (ROOT / "tests/programs/library/naive_calls.c").read_text(encoding="utf-8")


@pytest.fixture
def outcome(program, tmp_path):
    """Returns a function: outcome("NAME", "argument", …, preload=[…]) returns the exit status and the output of the
    program."""

    def run(name, *arguments, preload=()):
        done = subprocess.run(
            [program(name), *arguments],
            env=simulator_environment(
                LD_PRELOAD=":".join(map(str, preload)),
                GPUMEMTRACE_OUTPUT=tmp_path / "trace.db",
                GPUMEMTRACE_QUIET=1,
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=tmp_path,
        )
        return done.returncode, done.stdout

    return run


@pytest.fixture
def naive(tmp_path):
    """Returns a function: naive("NAIVE_…") returns a library that makes the mistake of this name."""

    def make(mistake):
        return compile_library(
            tmp_path / "libnaive.so", NAIVE, f"-D{mistake}", "-D_GNU_SOURCE",
            f"-I{ROOT / 'include'}", "-pthread",
        )  # fmt: skip

    return make


@pytest.fixture
def noticed(outcome, naive):
    """Returns a function: noticed("NAIVE_…", program, argument…) checks that the program behaves differently under the
    naive library, and as usual under the recorder. It returns the output of the program."""

    def check(mistake, *run):
        bare = outcome(*run)
        assert bare[0] == 5
        if not PRELOAD_FIRST:  # in a sanitized build, the sanitizer's own checks run before the mistake can show
            assert outcome(*run, preload=[naive(mistake)]) != bare
        assert outcome(*run, preload=[OURS]) == bare
        return bare[1]

    return check


# --- every function --------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["early", "late", "thread"])
def test_every_function_called_as_nobody_should_does_the_same(twice, program, when):
    recorded, _ = twice(program("harm_calls"), when)
    assert recorded.stdout.count(" = ") > 200


def without_addresses(text):
    return re.sub(r'"(address|object)": \d+', r'"\1"', text)


def test_every_family_sees_the_same_results_and_sizes(outcome):
    status, bare = outcome("matrix", "linked")
    recorded = outcome("matrix", "linked", preload=[OURS])
    assert (status, len(bare) > 10000) == (0, True)
    assert (recorded[0], without_addresses(recorded[1])) == (0, without_addresses(bare))


# --- mistakes of other tools ----------------------------------------------------------------------------


@pytest.mark.parametrize("mistake", ["NAIVE_CONTEXT", "NAIVE_LOCATION"])
def test_virtual_memory_is_made_without_a_context_and_in_every_place(noticed, mistake):
    said = noticed(mistake, "harm_calls", "places")
    assert "device: made = 0" in said and "\nhost: made = 0" in said


@pytest.mark.parametrize("mistake", ["NAIVE_NULL", "NAIVE_ERRNO"])
def test_a_call_leaves_alone_what_is_not_its_own(noticed, mistake):
    noticed(mistake, "harm_calls", "late")


@pytest.mark.parametrize("mode", ["clone-before", "clone-after", "_Fork-after"])
def test_a_child_that_forks_handlers_know_nothing_of_can_call(noticed, mode):
    noticed("NAIVE_FORK", "process_children", mode)


def test_a_process_killed_inside_a_call_leaves_no_lock_behind(noticed):
    said = noticed("NAIVE_LOCK", "process_children", "kills")
    assert said == "nobody waited\n"


def test_another_allocator_for_the_same_functions_is_not_passed_by(outcome, naive, program, record):
    run = ("process_end", "return")
    allocator = program("preload_allocator.so")
    alone = outcome(*run, preload=[allocator])
    assert alone == (5, "served 3, taken back 1\n")
    if not PRELOAD_FIRST:
        bypassed = outcome(*run, preload=[naive("NAIVE_BYPASS"), allocator])
        assert bypassed == (5, "served 0, taken back 1\n")
    assert outcome(*run, preload=[OURS, allocator]) == alone
    assert outcome(*run, preload=[allocator, OURS]) == alone


@pytest.mark.parametrize("ours_first, allocations", [(True, 3), (False, 1)])
def test_with_another_allocator_each_call_that_comes_to_us_is_recorded_once(
    outcome, tmp_path, program, ours_first, allocations
):
    both = [OURS, program("preload_allocator.so")]
    outcome("process_end", "return", preload=both if ours_first else both[::-1])
    with sqlite3.connect(f"file:{tmp_path / 'trace.db'}?mode=ro", uri=True) as database:
        assert database.execute(ALLOCATIONS).fetchall() == [(allocations,)]
