# SPDX-License-Identifier: MIT
"""Changes of a program whose code moved into a new function, or out of an old one, and that holds more besides."""
import pytest
from test_diff import rows, write

from support.tracefile import MIB, Trace

TOP = (99, "<module>")
# Calls in main, outermost last: the same lines in main itself, in one function, and in a function within a function.
PLAIN = {"data": [(55, "main")], "model": [(58, "main")], "loss": [(59, "main")]}
IN_A_FUNCTION = {"data": [(20, "step"), (63, "main")], "model": [(23, "step"), (63, "main")], "loss": [(24, "step"), (63, "main")]}
PART_IN_A_FUNCTION = {"data": [(60, "main")], "model": [(50, "loss_of"), (63, "main")], "loss": [(51, "loss_of"), (63, "main")]}
TWICE = {name: [path[0], (12, "timed"), *path[1:]] for name, path in IN_A_FUNCTION.items()}
SHAPES = {"plain": PLAIN, "function": IN_A_FUNCTION, "part": PART_IN_A_FUNCTION, "decorated": TWICE}


def program(path, calls, data=2, attend=8, mlp=12, loss=3, folder="/me/run"):
    """Writes a trace of a step that holds these MiB at the end."""
    model = [*calls["model"], TOP]
    return write(path, [(data * MIB, *calls["data"], TOP), (attend * MIB, (24, "attend"), (29, "forward"), *model),
                        (mlp * MIB, (30, "forward"), *model), (loss * MIB, *calls["loss"], TOP)], folder)  # fmt: skip


def change(tmp_path, before, after, **grown):
    return program(tmp_path / "before.db", SHAPES[before]), program(tmp_path / "after.db", SHAPES[after], **grown)


PAIRS = [(before, after) for before in SHAPES for after in SHAPES if before != after]


@pytest.mark.parametrize("before, after", PAIRS)
def test_code_that_moved_to_another_function_is_no_row(tmp_path, before, after):
    assert rows(*change(tmp_path, before, after)) == []


@pytest.mark.parametrize("before, after", PAIRS)
def test_the_part_of_moved_code_that_grew_is_to_blame(tmp_path, before, after):
    assert rows(*change(tmp_path, before, after, mlp=17)) == [("train.py:30 forward", 5 * MIB)]


@pytest.mark.parametrize("before, after", PAIRS)
def test_data_that_grew_is_to_blame_wherever_its_code_moved(tmp_path, before, after):
    line, function = SHAPES[after]["data"][0]
    assert rows(*change(tmp_path, before, after, data=4)) == [(f"train.py:{line} {function}", 2 * MIB)]


def test_lines_that_all_grew_are_rows_of_the_same_lines(tmp_path):
    found = rows(*change(tmp_path, "plain", "part", data=4, attend=9, mlp=24, loss=3))
    assert sorted(found) == [("train.py:24 attend", MIB), ("train.py:30 forward", 12 * MIB), ("train.py:60 main", 2 * MIB)]


def test_a_new_function_that_holds_more_is_to_blame(tmp_path):
    before = program(tmp_path / "before.db", PLAIN)
    after = Trace(tmp_path / "after.db")
    for size, *frames in ((2, *PLAIN["data"]), (8, (24, "attend"), (29, "forward"), *PLAIN["model"]),
                          (12, (30, "forward"), *PLAIN["model"]), (3, *PLAIN["loss"]), (6, (70, "draw"), (61, "main"))):  # fmt: skip
        after.alloc(size * MIB, stack=after.stack(*(("/me/run/train.py", *frame) for frame in (*frames, TOP))))
    after.exit()
    assert rows(before, after.write()) == [("train.py:70 draw", 6 * MIB)]


def test_a_file_with_a_new_name_is_compared_line_by_line(tmp_path):
    paths = []
    for name, lines, sizes in (("one.py", (8, 9, 10), (6, 7, 1)), ("two.py", (9, 11, 12), (12, 7, 1))):
        trace = Trace(tmp_path / f"{name}.db")
        for line, size in zip(lines, sizes):
            trace.alloc(size * MIB, stack=trace.stack((f"/me/run/{name}", line, "main")))
        trace.exit()
        paths.append(trace.write())
    assert rows(*paths) == [("two.py:9 main", 6 * MIB)]


def test_a_line_that_is_split_into_three_is_no_row(tmp_path):
    before = [(size * MIB, (10, "forward"), TOP) for size in (8, 4, 2)]
    after = [(size * MIB, (line, "forward"), TOP) for size, line in ((8, 10), (4, 11), (2, 12))]
    paths = [write(tmp_path / f"{name}.db", blocks) for name, blocks in (("before", before), ("after", after))]
    assert rows(*paths) == []
