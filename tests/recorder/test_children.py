# SPDX-License-Identifier: MIT
"""Child processes that are created in every way run and end as they do without the recorder. Each child that uses CUDA
has a complete trace of its own."""
import pytest

from support.run import PRELOAD_FIRST
from support.twice import ALLOCATIONS, MIB, assert_all_there, meta

CALLS = "SELECT count(*) FROM event WHERE kind=1 AND nested=0"
FAILURES = "SELECT count(*) FROM event WHERE kind=1 AND result=3 AND nested=0"


@pytest.mark.parametrize("mode", ["posix-spawn", "system", "vfork", "clone-with-memory"])
def test_children_that_use_no_cuda_leave_their_parents_trace_alone(twice, program, mode):
    recorded, folder = twice(program("process_children"), mode)
    assert recorded.stdout.count("block") == 2
    assert_all_there(folder, 2, 0)


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="the writer may be inside a sanitizer's malloc, whose lock the child inherits")
@pytest.mark.parametrize("mode", ["clone-after", "_Fork-after"])
def test_a_child_without_forks_handlers_makes_a_trace_of_its_own(twice, program, mode):
    _, folder = twice(program("process_children"), mode)
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert [folder.count(CALLS, name) for name in folder.names()] == [1, 2]
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]


def test_a_child_without_forks_handlers_may_be_the_first_to_use_cuda(twice, program):
    _, folder = twice(program("process_children"), "clone-before")
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert [folder.count(ALLOCATIONS, name) for name in folder.names()] == [1, 1]
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]


@pytest.mark.parametrize("mode", ["cloned-function", "cloned-function-with-memory"])
def test_a_child_ends_with_the_function_that_clone_called(twice, program, mode):
    recorded, folder = twice(program("process_children"), mode)
    assert "cloned ended: 7" in recorded.stdout
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert [folder.count(ALLOCATIONS, name) for name in folder.names()] == [1, 1]
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]


def test_a_process_ends_with_its_last_thread_and_its_exit_handlers_are_recorded(twice, program):
    recorded, folder = twice(program("process_children"), "last-thread")
    assert "child ended: 0" in recorded.stdout
    assert_all_there(folder, 3, 0)
    assert folder.report()["devices"][0]["driver"]["live_at_exit_bytes"] == 3 * MIB


def test_a_daemon_that_closed_everything_is_recorded_whole(twice, program):
    recorded, folder = twice(program("process_children"), "daemon")
    assert "5 MiB: 0 block" in recorded.stdout
    assert_all_there(folder, 2, 0)


def test_a_daemon_of_a_process_that_used_cuda_fails_as_without_us(twice, program):
    recorded, folder = twice(program("process_children"), "daemon-after")
    assert "5 MiB: 3 nothing" in recorded.stdout
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert folder.count(FAILURES, "trace.2.db") == 2
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]


def test_the_process_that_calls_daemon_ends_complete(twice, program):
    recorded, folder = twice(program("process_children"), "daemon-of-libc")
    assert "its caller ended: 0" in recorded.stdout
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]
    assert [folder.count(ALLOCATIONS, name) for name in folder.names()] == [0, 1]
    assert folder.count("SELECT object FROM event WHERE kind=15", "trace.db") == 1  # this exit is an _exit
    assert recorded.stderr.count("; see: ") == 2


def test_a_program_that_execs_itself_makes_a_second_trace(twice, program):
    _, folder = twice(program("process_children"), "exec-again")
    folder.report()
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert [folder.count(ALLOCATIONS, name) for name in folder.names()] == [1, 1]
    assert [meta(folder, "complete", name) for name in folder.names()] == [1, 1]


def test_an_end_that_passes_us_by_leaves_everything_but_is_not_complete(twice, program):
    _, folder = twice(program("process_children"), "system-call")
    assert folder.report()["trace"]["complete"] is False
    assert folder.names() == ["trace.db"]
    assert (folder.count(ALLOCATIONS), meta(folder, "lost_events")) == (2, 0)


def test_a_storm_of_threads_is_recorded_whole(twice, program):
    _, folder = twice(program("process_children"), "storm")
    assert_all_there(folder, 12000, 12000)
    assert folder.count("SELECT count(DISTINCT thread_id) FROM event WHERE kind=1") == 3000
