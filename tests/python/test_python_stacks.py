# SPDX-License-Identifier: MIT
"""Compares the Python frames in a trace with Python's own stacks, on every interpreter of pythons.py."""
import itertools
import sqlite3

import pytest

from support import pythons
from support.run import BUILD, PRELOAD_FIRST
from support.traced_stacks import LABEL, NATIVE, PYTHON, Run

INTERPRETERS = pythons.found()
PROBE = BUILD / "tests" / "stack_probe.so"


def parameters(interpreters):
    return [pytest.param(each, id=each.name) for each in interpreters]


@pytest.fixture(params=parameters(each for each in INTERPRETERS if each.is_known()))
def interpreter(request):
    return request.param


def name_of(frame):
    """Returns the name of a Python frame's function, without its class and enclosing functions."""
    return frame[2].split(".")[-1]


def short(stack):
    """Returns a stack as words: the name of each Python frame, and one word "libc" or "native" for consecutive native
    frames."""
    words = [
        name_of(frame) if frame[0] == PYTHON
        else "libc" if frame[0] == NATIVE and "/libc.so" in frame[1]
        else "native" if frame[0] == NATIVE
        else frame[1]
        for frame in stack
    ]
    return [word for word, _ in itertools.groupby(words)]


def without(words, *left_out):
    return [word for word in words if word not in left_out]


# --- what Python says --------------------------------------------------------------------------------


def test_ten_thousand_stacks_are_those_that_traceback_sees(interpreter, tmp_path):
    run = Run(interpreter, "every_shape.py", 1500, folder=tmp_path)
    assert len(run.expected) >= 10000
    assert run.differing() == []


def test_frames_of_python_alone_are_the_same(interpreter, tmp_path):
    run = Run(interpreter, "every_shape.py", 20, folder=tmp_path, GPUMEMTRACE_STACKS="python")
    assert run.differing() == []
    assert {frame[0] for address in run.stacks for frame in run.stacks[address]} == {PYTHON}


def test_native_frames_alone_have_no_python_among_them(interpreter, tmp_path):
    run = Run(interpreter, "order.py", folder=tmp_path, GPUMEMTRACE_STACKS="native")
    assert {frame[0] for address in run.stacks for frame in run.stacks[address]} == {NATIVE}


def test_a_limit_of_seven_keeps_the_seven_innermost_frames(interpreter, tmp_path):
    run = Run(interpreter, "every_shape.py", 1, folder=tmp_path, GPUMEMTRACE_DEPTH=7)
    assert [stack[:7] for _, stack in run.expected] == [
        run.stacks.python(address) for address, _ in run.expected
    ]


def test_ten_thousand_levels_leave_the_innermost_frames(interpreter, tmp_path):
    run = Run(interpreter, "levels.py", folder=tmp_path)
    assert run.differing() == []
    assert [len(stack) for _, stack in run.expected][0] == 128


# --- true order --------------------------------------------------------------------------------------


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer stands in for qsort, too")
def test_python_that_c_calls_that_python_calls_stands_in_this_order(interpreter, tmp_path):
    run = Run(interpreter, "order.py", folder=tmp_path)
    words = short(run.stacks[run.printed()["callbacks"]])
    assert without(words, "native")[:11] == [
        "allocate", "innermost", "first_only", "libc", "sort", "middle", "first_only", "libc", "sort",
        "outermost", "<module>",
    ]
    assert run.differing() == []


def test_frames_of_one_run_of_the_loop_have_nothing_native_between_them(interpreter, tmp_path):
    run = Run(interpreter, "order.py", folder=tmp_path)
    words = short(run.stacks[run.printed()["destructor"]])
    dying = ["__del__", "native", "let_die"]
    # Up to 3.10 every Python frame runs its own interpreter loop.
    if interpreter.version < (3, 11):
        expected = ["allocate", "native", *dying, "native", "<module>"]
    else:
        expected = ["allocate", *dying, "<module>"]
    assert words[1 : 1 + len(expected)] == expected


def test_a_call_from_a_seldom_run_part_of_the_loop_is_one_of_the_loop(interpreter, tmp_path):
    run = Run(interpreter, "order.py", folder=tmp_path)
    words = short(run.stacks[run.printed()["seldom"]])
    at = words.index("__pos__")
    assert words[at : at + 3] == ["__pos__", "native", "seldom"]
    assert run.differing() == []


def test_python_further_out_than_the_unwinder_comes_is_not_lost(interpreter, tmp_path):
    run = Run(interpreter, "order.py", folder=tmp_path)
    words = short(run.stacks[run.printed()["uncharted"]])
    assert without(words, "native")[-3:] == ["uncharted_callback", "uncharted", "<module>"]


def test_no_stack_needs_the_label_of_an_unknown_order(interpreter, tmp_path):
    run = Run(interpreter, "every_shape.py", 20, folder=tmp_path)
    assert not [1 for address in run.stacks for frame in run.stacks[address] if frame[0] == LABEL]


# --- safety ------------------------------------------------------------------------------------------


def test_a_timer_that_interrupts_all_the_time_changes_no_stack(interpreter, tmp_path):
    run = Run(interpreter, "interrupted.py", 4000, folder=tmp_path)
    assert run.printed()["interrupted"] >= 4000
    assert run.differing() == []


def test_a_function_that_is_being_entered_is_no_frame(interpreter, tmp_path):
    run = Run(interpreter, "entered.py", 100, folder=tmp_path)
    # Without a GIL the garbage collector runs only between two instructions, once per round.
    assert len(run.expected) > 100 or interpreter.is_free_threaded()
    assert run.differing() == []


def test_greenlets_have_their_own_frames(interpreter, tmp_path):
    environment = interpreter.greenlet(tmp_path / "greenlet")
    if environment is None:
        pytest.skip(f"{interpreter.name} has no greenlet, and pip brings it none")
    run = Run(interpreter, "greenlets.py", folder=tmp_path, **environment)
    assert len(run.expected) > 50
    assert run.differing() == []


def test_a_sub_interpreter_changes_no_stack_of_the_main_one(interpreter, tmp_path):
    run = Run(interpreter, "interpreters.py", folder=tmp_path)
    assert run.differing() == []
    if "inner" not in run.printed():
        pytest.skip(f"{interpreter.name} offers no sub-interpreters")
    names = without(short(run.stacks[run.printed()["inner"]]), "native", "libc")
    # Up to 3.11 a thread does not store its interpreter, so the recorder finds the frames of the main interpreter.
    inner = ["allocate_inside", "<module>"]
    assert names == (["run_inside", "<module>"] if interpreter.version < (3, 12) else inner)


def test_children_of_a_process_whose_threads_churn_code_record_their_own(interpreter, tmp_path):
    run = Run(interpreter, "forks.py", 10, folder=tmp_path)
    assert run.differing() == []
    children = [path for path in tmp_path.glob("trace.*.db")]
    assert len(children) == 10
    for child in children:
        with sqlite3.connect(f"file:{child}?mode=ro", uri=True) as database:
            kept = database.execute("SELECT count(*) FROM event WHERE kind = 1").fetchone()[0]
            made = database.execute(
                "SELECT count(*) FROM location JOIN string ON string_id = function_id"
                " WHERE text LIKE 'made_%'"
            ).fetchone()[0]
        assert kept >= 60 and made >= 30


def test_ending_under_daemon_threads_that_allocate_is_the_same_as_without_us(interpreter, tmp_path):
    for _ in range(5):
        run = Run(interpreter, "daemon_threads.py", 8, folder=tmp_path, before=[PROBE])
        assert run.completed.stderr.count("\n") == 1  # only the recorder's line at exit


# --- what is not read --------------------------------------------------------------------------------


UNKNOWN = [each for each in INTERPRETERS if not each.is_known()]
if UNKNOWN:  # only make check-pythons may find unknown interpreters

    @pytest.mark.parametrize("unknown", parameters(UNKNOWN))
    def test_an_unknown_interpreter_is_refused_in_one_line(unknown, tmp_path):
        run = Run(unknown, "one_allocation.py", folder=tmp_path, GPUMEMTRACE_QUIET=1)
        said = run.completed.stderr.splitlines()
        assert len(said) == 1 and "is not known; recording without its frames" in said[0]
        (address,) = run.stacks
        assert {frame[0] for frame in run.stacks[address]} == {NATIVE}
