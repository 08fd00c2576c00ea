# SPDX-License-Identifier: MIT
"""Commands that speak of the same bytes name the same line."""
import pytest

from support.made_traces import MADE
from support.run import load_json
from support.tracefile import MIB, Trace

MAIN, WRAPPER = ("/me/train.py", 88, "main"), ("/me/tensor.py", 9, "tensor_alloc")
HELPER, TEMPLATE = ("/me/tensor.py", 5, "floats"), ("/me/tensor.hpp", 5, "floats")


def lines_of_stacks(value):
    """Yields (frames, line to blame) of all rows that have both, at any depth."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from lines_of_stacks(inner)
    if isinstance(value, dict) and value.get("site") and value.get("frames"):
        yield str([(frame["function"], frame["file"], frame["line"]) for frame in value["frames"]]), value["site"]


@pytest.mark.parametrize("name", MADE)
def test_of_a_made_up_trace_each_stack_has_one_line(tmp_path, name):
    fill, meta = MADE[name]
    trace = Trace(tmp_path / f"{name}.db", **meta)
    fill(trace)
    path, found = trace.write(), {}
    for command in "report", "peak", "leaks", "oom", "steps":
        for frames, line in lines_of_stacks(load_json(command, path)):
            found.setdefault(frames, {}).setdefault(line, []).append(command)
    assert [lines for lines in found.values() if len(lines) > 1] == []


@pytest.mark.parametrize("inner", [(HELPER,), (TEMPLATE,), (WRAPPER, HELPER)])
def test_what_a_helper_takes_for_three_callers_is_said_of_the_callers_by_every_command(tmp_path, inner):
    paths = []
    for name, numbers in ("old", ()), ("new", (10, 20, 30)):
        trace = Trace(tmp_path / f"{name}.db", command="python train.py")
        for number in numbers:
            trace.alloc(number * MIB, stack=trace.stack(*inner, ("/me/model.py", number, f"caller_{number}"), MAIN))
        trace.exit()
        paths.append(trace.write())
    wanted = {f"model.py:{number} caller_{number}": number * MIB for number in (10, 20, 30)}
    for command in "report", "peak", "leaks":
        assert {line for _, line in lines_of_stacks(load_json(command, paths[1]))} == set(wanted), command
    (device,) = load_json("diff", *paths)["devices"]
    assert {row["site"]: row["delta_bytes"] for row in device["sites"]} == wanted
