# SPDX-License-Identifier: MIT
"""Stacks of programs that do not use Python, or that embed it."""
import ctypes.util
import pathlib

import pytest

from support.run import PRELOAD_FIRST
from support.traced_stacks import LABEL, NATIVE, PYTHON, Stacks


def modules(stack):
    return [pathlib.Path(frame[1]).name for frame in stack if frame[0] == NATIVE]


def reload(record, program, *options):
    """Returns the stack in the second plugin, and whether the loader put this plugin at the address of the first
    plugin."""
    recording = record(
        program("stack_reload"), program("stack_probe_one.so"), program("stack_probe_two.so"),
        *options, check=not options,
    )
    lines = [line.split() for line in recording.completed.stdout.splitlines()]
    stacks = Stacks(recording.trace)
    return stacks[int(lines[1][0])] if len(lines) > 1 else [], len({place for _, place in lines}) == 1


EXPECTED = ["stack_reload", "stack_probe_two.so", "stack_probe_two.so", "stack_reload", "stack_reload"]


def test_a_library_opened_after_another_was_closed_has_its_own_stack(record, program):
    stack, same_place = reload(record, program)
    assert modules(stack)[:5] == EXPECTED
    assert not same_place


def test_without_keeping_closed_libraries_that_stack_would_be_another(record, program):
    stack, same_place = reload(record, program, "naive")
    if not same_place:
        pytest.skip("the loader put the second library elsewhere")
    assert modules(stack)[:5] != EXPECTED


def test_a_backward_thread_says_so_and_keeps_its_native_frames(record, program):
    recording = record(program("stack_autograd"))
    stack = Stacks(recording.trace)[int(recording.completed.stdout)]
    assert [frame[0] for frame in stack[:4]] == [NATIVE, NATIVE, LABEL, NATIVE]
    assert stack[2] == (LABEL, "backward (autograd)")


@pytest.mark.parametrize("stacks", ["all", "native"])
def test_code_without_tables_may_keep_anything_where_a_frame_pointer_would_be(record, program, stacks):
    recording = record(program("stack_wild"), check=False, GPUMEMTRACE_STACKS=stacks)
    if recording.completed.returncode == 77:
        pytest.skip("machine code of another machine")
    assert (recording.completed.returncode, recording.completed.stdout) == (0, "12\n")
    depths = [len(Stacks(recording.trace)[address]) for address in Stacks(recording.trace)]
    assert len(depths) == 12 and min(depths) >= 1


def test_an_interpreter_loaded_as_a_plugin_later_is_found(record, program):
    library = ctypes.util.find_library("python3.11")
    if not library:
        pytest.skip("no libpython3.11 to load here")
    recording = record(program("stack_embedded"), library)
    frames = Stacks(recording.trace)[int(recording.completed.stdout)]
    assert [frame[2:] for frame in frames if frame[0] == PYTHON] == [
        ("inner", 2), ("outer", 4), ("<module>", 5),
    ]


def test_an_interpreter_that_a_program_closed_is_not_asked_any_more(record, program):
    library = ctypes.util.find_library("python3.11")
    if not library:
        pytest.skip("no libpython3.11 to load here")
    recording = record(program("stack_embedded"), library, "close")
    assert recording.rows("SELECT count(*) FROM event WHERE kind=1 AND result=0") == [(3,)]


def test_python_alone_is_found_by_a_program_that_loads_it_later(record, program):
    library = ctypes.util.find_library("python3.11")
    if not library:
        pytest.skip("no libpython3.11 to load here")
    recording = record(program("stack_embedded"), library, GPUMEMTRACE_STACKS="python")
    frames = Stacks(recording.trace)[int(recording.completed.stdout)]
    assert [frame[2] for frame in frames] == ["inner", "outer", "<module>"]


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer has locks of its own, which a fork does not mind")
def test_a_child_forked_while_threads_take_new_stacks_is_not_stuck(record, program):
    record(program("stack_forks"), 40)
