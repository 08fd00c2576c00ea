# SPDX-License-Identifier: MIT
"""Lists the tests that cannot run on qemu's user mode, each with the reason. This file is a pytest plugin that skips
these tests. A row that names no test is an error."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

LAST_THREAD = (
    "qemu answers for /proc/self/exe itself and has threads of its own: nobody can see there that the"
    " last thread of the program has ended"
)
SHARED_MEMORY = "qemu refuses clone() with its parent's memory for what is no thread (EINVAL)"
WIPED_MEMORY = (
    "qemu takes MADV_WIPEONFORK and does nothing: what fork's handlers do not tell, nobody can know"
)
KEPT_MEMORY = "qemu takes MADV_DONTFORK and does nothing: a child has its parent's memory"
THREAD_NAMES = "the threads bear qemu's name"
TOO_LONG = "it takes a minute here, and what it is about is the same on every architecture"
OWN_PYTHON = "the Python that it runs is this machine's own and can load nothing of another's"
OTHER_TOOLS = "the tool is there for this machine's own architecture"
NO_NODES = "calls of PyTorch's are handed on whole on x86-64 alone"

LEFT_OUT = {
    "tests/recorder/test_facts.py"
    "::test_a_trace_says_that_its_recorder_tells_the_nodes_of_autograd": NO_NODES,
    "tests/recorder/test_children.py::test_a_child_ends_with_the_function_that_clone_called"
    "[cloned-function]": LAST_THREAD,
    "tests/recorder/test_children.py::test_a_child_ends_with_the_function_that_clone_called"
    "[cloned-function-with-memory]": SHARED_MEMORY,
    "tests/recorder/test_children.py"
    "::test_a_process_ends_with_its_last_thread_and_its_exit_handlers_are_recorded": LAST_THREAD,
    "tests/recorder/test_children.py"
    "::test_a_child_without_forks_handlers_makes_a_trace_of_its_own": WIPED_MEMORY,
    "tests/recorder/test_other_preloads.py"
    "::test_a_tool_of_the_system_works_as_without_the_recorder_and_so_does_the_recorder": OTHER_TOOLS,
    "tests/recorder/test_harmless.py"
    "::test_under_more_load_than_the_ring_takes_the_program_waits_and_nothing_is_lost": TOO_LONG,
    "tests/recorder/test_harmless.py"
    "::test_descriptors_get_the_numbers_that_they_would_get_under_every_limit": SHARED_MEMORY,
    "tests/recorder/test_harmless.py"
    "::test_names_that_a_program_makes_up_without_end_share_one_and_are_counted": TOO_LONG,
    "tests/recorder/test_pools.py"
    "::test_two_million_events_of_a_pool_take_little_memory_and_under_60_bytes_each": TOO_LONG,
    "tests/recorder/test_random_allocations.py"
    "::test_what_was_reported_before_a_sigkill_is_in_the_trace": TOO_LONG,
    "tests/recorder/test_recorded_phases.py"
    "::test_a_phase_opened_before_the_first_call_belongs_to_the_thread_that_opened_it": THREAD_NAMES,
    "tests/unit/trace/ring.c::a_forked_child_does_not_have_its_parents_ring_in_memory": KEPT_MEMORY,
    "tests/recorder/test_pools.py::test_each_piece_bears_the_name_of_its_own_pool": OWN_PYTHON,
    "tests/recorder/test_pools.py"
    "::test_what_the_manual_shows_for_rmm_and_cupy_reports_pieces_ends_and_failures": OWN_PYTHON,
}


def assert_named(test):
    path, name = re.match(r"(.*)::(\w+)", test).groups()
    if not re.search(rf"^(def |TEST\(|TEST_WITH\(){name}\b", (ROOT / path).read_text(encoding="utf-8"), re.M):
        raise pytest.UsageError(f"tests/aarch64/left_out.py: there is no {test}")


def pytest_collection_modifyitems(items):
    for test, reason in LEFT_OUT.items():
        assert_named(test)
        for item in items:
            if item.nodeid == test or item.nodeid.startswith(f"{test}["):
                item.add_marker(pytest.mark.skip(reason=reason))
