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


def test_the_blocks_of_one_backward_are_said_of_their_forward_lines_by_every_command(tmp_path):
    trace = Trace(tmp_path / "backward.db", command="python train.py")
    engine, lines = trace.stack("autograd's engine"), {"model.py:10 layer": MIB, "model.py:20 layer": 2 * MIB}
    address = trace.alloc(256 * MIB, stack=trace.stack(MAIN))
    for step in range(8):
        for node, (line, size) in enumerate(lines.items(), 1):
            forward = trace.stack(("/me/model.py", 10 * node, "layer"), MAIN)
            trace.event("autograd-node", address=1, object=100 * step + node)
            trace.tensor_free(trace.tensor(address, MIB, "pytorch", stack=forward), "pytorch")
            trace.event("autograd-node", address=1, object=100 * step + node, size=1)
            trace.tensor(address, size, "pytorch", stack=engine)
            trace.tensor_free(trace.tensor(address + size, size, "pytorch", stack=engine), "pytorch")
            address += size
        trace.event("autograd-node", address=1)
        trace.step(step)
    path = trace.write()
    (device,) = load_json("leaks", path)["devices"]
    wanted = {f"backward of {line}": size for line, size in lines.items()}
    for key in "growing", "churn":
        rows = {row["site"]: row["bytes_per_step"] for row in device["leaks"][key] if row["layer"] == "pool"}
        assert wanted.items() <= rows.items(), key
    for command in "report", "peak":
        sites = {line for _, line in lines_of_stacks(load_json(command, path)) if line.startswith("backward")}
        assert sites == set(wanted), command
