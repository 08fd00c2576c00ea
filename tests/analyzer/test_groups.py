# SPDX-License-Identifier: MIT
"""`peak --by` and `peak --tree`: groups that come from native frames, and their text. tests/reference compares the
figures of both commands with those of a slow implementation."""
import re

import pytest

from support.run import load_json, run_command
from support.tracefile import Trace

TORCH = "/v/lib/python3.11/site-packages/torch"
MAIN = ("/me/train.py", 88, "main")


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for number, path in enumerate((f"{TORCH}/lib/libtorch_cpu.so", "/usr/lib/libnccl.so.2", "/me/solver"), 1):
        trace.rows["module"].append((number, path, None, number << 20, number << 20, (number + 1) << 20))
    return trace


def native(trace, module, function):
    native.count = getattr(native, "count", 0) + 1
    address = (module << 20) + 16 * native.count
    trace.name(address, (None, None, function))
    return address


def groups(trace, by, *options):
    """Returns {name: (own bytes, inclusive bytes)}."""
    rows = load_json("peak", f"--by={by}", *options, trace.written())["devices"][0]["groups"]
    return {row["name"]: (row["own_bytes"], row["inclusive_bytes"]) for row in rows}


def torch_stack(trace, *operators, layers=()):
    frames = [native(trace, 1, f"at::_ops::{name}::call") for name in operators]
    return trace.stack(*frames, *((f"{TORCH}/nn/m.py", 1, f"{name}.forward") for name in layers), MAIN)


def test_an_operator_has_what_the_program_asked_it_for_and_those_it_called_are_gone_through(trace):
    trace.alloc(10, stack=torch_stack(trace, "empty", "addmm", "linear"))
    trace.alloc(5, stack=torch_stack(trace, "empty", "mm"))
    assert groups(trace, "op") == {"linear": (10, 10), "mm": (5, 5), "empty": (0, 15), "addmm": (0, 10)}


def test_a_redispatch_is_no_operator_of_its_own(trace):
    frames = [native(trace, 1, f"at::_ops::mm::{way}") for way in ("redispatch", "call")]
    trace.alloc(10, stack=trace.stack(*frames, MAIN))
    assert groups(trace, "op") == {"mm": (10, 10)}


def test_backward_is_blamed_on_its_node(trace):
    functions = ("at::_ops::mm::call", "torch::autograd::generated::MmBackward0::apply", "torch::autograd::Engine::thread_main")
    trace.alloc(10, stack=trace.stack(*(native(trace, 1, function) for function in functions)))
    assert groups(trace, "op") == {"MmBackward0": (10, 10), "mm": (0, 10)}
    assert groups(trace, "line") == {"MmBackward0, backward (autograd)": (10, 10)}


def test_the_innermost_module_has_the_bytes_and_those_around_it_are_gone_through(trace):
    trace.alloc(10, stack=torch_stack(trace, layers=("Linear", "MLP", "Model")))
    trace.alloc(5, stack=torch_stack(trace, layers=("MLP", "Model")))
    trace.alloc(1, stack=torch_stack(trace))
    assert groups(trace, "module") == {
        "Linear": (10, 10), "MLP": (5, 15), "(no module)": (1, 1), "Model": (0, 15)
    }  # fmt: skip


def test_without_python_the_library_that_asked_stands_for_the_module(trace):
    trace.alloc(10, stack=trace.stack(native(trace, 3, "solve"), native(trace, 3, "main")))
    assert groups(trace, "module") == {"solver": (10, 10)}


def test_a_recursive_line_is_counted_once(trace):
    trace.alloc(10, stack=trace.stack(MAIN, MAIN, MAIN))
    assert groups(trace, "line") == {"train.py:88 main": (10, 10)}


def test_lines_of_two_files_of_one_name_are_one_row_and_two_files(trace):
    for folder, size in (("a", 10), ("b", 5)):
        trace.alloc(size, stack=trace.stack((f"/{folder}/train.py", 88, "main")))
    assert groups(trace, "line") == {"train.py:88 main": (15, 15)}
    assert groups(trace, "file") == {"/a/train.py": (10, 10), "/b/train.py": (5, 5)}


def test_any_moment_can_be_grouped(trace):
    trace.free(trace.alloc(10, stack=trace.stack(MAIN)))
    trace.alloc(3, stack=trace.stack("cache"))
    assert groups(trace, "function", "--at=end") == {"cache": (3, 3)}


def tree_lines(trace, *options):
    lines = run_command("peak", "--tree", *options, trace.path).stdout.split("Calls\n")[1].split("\n\n")[0].splitlines()
    return [(line.split()[0] + " " + line.split()[1], re.search(r" %  +\d+  (.*)", line)[1]) for line in lines]


def test_backwards_of_one_line_are_one_row_of_the_tree(trace):
    """One line called two functions, and each function has a backward node."""
    for number, function in enumerate(("linear", "softmax"), 1):
        forward = trace.stack(("/opt/torch/nn/functional.py", number, function), MAIN)
        trace.event("autograd-node", address=1, object=number, size=0)
        trace.free(trace.alloc(8, "tensor", stack=forward), "tensor")
        trace.event("autograd-node", address=1, object=number, size=1)
        trace.alloc(number, "tensor", stack=trace.stack(f"node {number}"))
    trace.write()
    nodes = load_json("peak", "--tree", "--at=end", trace.path)["devices"][0]["tree"]
    assert [(node["name"], node["own_bytes"]) for node in nodes] == [("backward of train.py:88 main", 3)]


def test_a_branch_below_a_hundredth_is_counted_and_summed(trace):
    for number, size in enumerate((700, 300, 4, 3)):
        trace.alloc(size, stack=trace.stack(("/me/model.py", number, "f"), MAIN))
    trace.write()
    assert tree_lines(trace) == [
        ("1007 B", "train.py:88 main"), ("700 B", "  model.py f"), ("300 B", "  model.py:1 f"), ("7 B", "  … 2 more"),
    ]  # fmt: skip
    assert tree_lines(trace, "--top=1")[-1] == ("307 B", "  … 3 more")
    nodes = load_json("peak", "--tree", trace.path)["devices"][0]["tree"]
    assert [(node["depth"], node["inclusive_bytes"], node["own_bytes"]) for node in nodes] == [
        (0, 1007, 0), (1, 700, 700), (1, 300, 300), (1, 4, 4), (1, 3, 3)
    ]  # fmt: skip


@pytest.mark.parametrize("option, head", [("--by=line", "device,layer,pool,own_bytes"), ("--tree", "device,layer,pool,depth")])
def test_csv_has_what_was_asked_for(trace, option, head):
    trace.alloc(1, stack=trace.stack(MAIN))
    assert run_command("peak", option, "--format=csv", trace.write()).stdout.startswith(head)


def test_what_cannot_be_grouped_by_is_wrong_usage(trace):
    completed = run_command("peak", "--by=colour", trace.write())
    assert completed.returncode == 2 and "line|function|file|op|module|stack" in completed.stderr


def test_by_category_the_table_is_that_of_the_categories(trace):
    with trace.phase("data"):
        trace.alloc(3, stack=trace.stack(MAIN))
    trace.alloc(1, stack=trace.stack(MAIN))
    (device,) = load_json("peak", "--by=category", trace.write())["devices"]
    assert [(row["category"], row["bytes"]) for row in device["categories"]] == [("input", 3), ("other", 1)]
    lines = run_command("peak", "--by=category", "--format=csv", trace.path).stdout.splitlines()
    assert [line.split(",")[3:5] for line in lines] == [["category", "bytes"], ["input", "3"], ["other", "1"]]
    assert "By call stack" not in run_command("peak", "--by=category", trace.path).stdout
