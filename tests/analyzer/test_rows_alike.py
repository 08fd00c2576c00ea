# SPDX-License-Identifier: MIT
"""No two rows of sites read alike, in any list of any command. Stacks that blame the same line share a row."""
import pytest

from support.alike import alike_rows, lists_of
from support.made_traces import MADE
from support.run import load_json, run_command
from support.tracefile import MIB, Trace

GIB = 1 << 30
MAIN, OTHER = ("/me/train.py", 88, "main"), ("/me/train.py", 90, "main")
TORCH = "/v/lib/python3.11/site-packages/torch/nn/modules/x.py"


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db", command="python train.py")


def two_stacks(trace):
    """Returns two stacks of one line, which calls the same function of PyTorch in two places."""
    return [trace.stack((TORCH, number, "linear"), MAIN) for number in (1, 2)]


def rows(trace, heading, *command):
    """Returns the rows below `heading`, each as [cells …, line below the row]."""
    text = run_command(*command, trace.written()).stdout
    return [[*cells.values(), head] for cells, head in dict(lists_of(text))[heading]]


@pytest.mark.parametrize("name", MADE)
def test_in_no_list_of_a_made_up_trace(tmp_path, name):
    fill, meta = MADE[name]
    trace = Trace(tmp_path / f"{name}.db", **meta)
    fill(trace)
    assert alike_rows(trace.write()) == []


def test_phases_of_one_text_are_one_phase_of_what_has_no_stack(trace):
    with trace.phase("a"), trace.phase("b"):
        trace.alloc(30 * MIB)
    with trace.phase("a/b"):
        trace.alloc(2 * MIB)
    with trace.phase("c"):
        trace.alloc(1 * MIB)
    found = rows(trace, "By call stack", "peak")
    assert found == [
        ["32.00 MiB", "97.0 %", "2", "a/b", "other", "(no stack was taken)"],
        ["1.00 MiB", "3.0 %", "1", "c", "other", "(no stack was taken)"],
    ]  # fmt: skip
    assert alike_rows(trace.path) == []


def test_blocks_of_one_line_that_pin_free_memory_are_one_row(trace):
    """There are two segments of 20 MiB. The first has one block of each stack, and the second has one block of the
    first stack."""
    first, second = two_stacks(trace)
    for stacks in ((first, second), (first,)):
        segment = trace.alloc(20 * MIB)
        for number, stack in enumerate(stacks):
            trace.tensor(segment + number * 10 * MIB, 2 * MIB, "pytorch", stack=stack)
    found = rows(trace, "Free memory that live blocks pin", "frag")
    assert found == [
        ["34.00 MiB", "34.00 MiB", "2", "3", "6.00 MiB", "train.py:88 main, in linear"]
    ]  # fmt: skip
    assert "pinned by train.py:88 main: 34.00 MiB beside 3 blocks of 6.00 MiB" in run_command("frag", trace.path).stdout.replace("\n", " ")
    pins = load_json("frag", trace.path)["devices"][0]["pinned_by"]
    assert [(pin["alone_bytes"], pin["pinned_bytes"]) for pin in pins] == [(18 * MIB, 34 * MIB), (0, 16 * MIB)]
    assert alike_rows(trace.path) == []


@pytest.mark.parametrize("tells_call", [True, False])
def test_gradients_that_pin_free_memory_are_told_by_the_line_that_called_backward(trace, tells_call):
    """The stack of a backward has no line of the program."""
    trace.thread_names[2] = "pt_autograd_0"
    torch = "/v/lib/torch/autograd/__init__.py"
    if tells_call:
        root = trace.alloc(2 * MIB)
        trace.tensor(root, 2 * MIB, "pytorch", stack=trace.stack((torch, 50, "_make_grads"), (torch, 340, "backward"), MAIN))
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 2 * MIB, "pytorch", stack=trace.stack("backward (autograd)"), thread=2)
    trace.exit()
    text = " ".join(run_command("frag", trace.written()).stdout.split())
    assert ("pinned by train.py:88 main: 18.00 MiB beside 1 block of 2.00 MiB in all." in text) == tells_call


def test_what_one_line_took_beyond_a_typical_step_is_one_row(trace):
    stacks = two_stacks(trace)
    for step in range(1, 21):
        held = [trace.alloc((100 if step == 12 else 10) * MIB, stack=stack) for stack in stacks]
        for address in held:
            trace.free(address)
        trace.step(step)
    found = rows(trace, "Allocated beyond a typical step", "steps")
    assert found == [["200.00 MiB", "20.00 MiB", "train.py:88 main, in linear"]]
    assert "… and 1 other call stack of that line" in run_command("steps", trace.path).stdout
    assert len(load_json("steps", trace.path)["devices"][0]["steps"]["outlier_sites"]) == 2


def test_retries_of_one_line_are_one_row(trace):
    """The following happens twice, from the same line: the driver refuses a request, PyTorch frees its cache, and the
    next request succeeds."""
    stacks = two_stacks(trace)
    for size, stack in ((10 * GIB, stacks[0]), (12 * GIB, stacks[1])):
        cached = trace.alloc(8 * GIB)
        trace.tensor(cached, GIB, "pytorch")
        trace.tensor_free(cached, "pytorch")
        trace.fail(size, stack=stack, hook=1)
        trace.free(cached)
        trace.tensor(trace.alloc(size, stack=stack), size, "pytorch", stack=stack)
    heading = "Retries: refused, and served after the framework flushed its cache"
    (row,) = rows(trace, heading, "oom")
    assert row[1:4] == ["2", "12.00 GiB", "16.00 GiB"]
    assert [site["retries_count"] for site in load_json("oom", trace.path)["retries"]] == [1, 1]
    assert alike_rows(trace.path) == []


def test_stacks_of_one_line_are_told_apart_by_their_number(trace):
    for size, stack in zip((5, 3), two_stacks(trace)):
        trace.alloc(size * MIB, stack=stack)
    found = rows(trace, "By stack", "peak", "--by=stack")
    assert [row[-1] for row in found] == ["train.py:88 main, in linear"] * 2 and len({row[-2] for row in found}) == 2
    assert alike_rows(trace.path) == []


@pytest.mark.parametrize("heading, command", [("Lines that grew since the baseline", ["check", "--baseline={}"]),
                                              ("Changes, by the line to blame", ["diff", "{}"])])  # fmt: skip
def test_what_grew_at_one_line_is_one_row(tmp_path, heading, command):
    before, after = Trace(tmp_path / "before.db"), Trace(tmp_path / "after.db")
    for trace, size in ((before, 1), (after, 5)):
        for stack in two_stacks(trace):
            trace.alloc(size * MIB, stack=stack)
    before.write()
    found = rows(after, heading, *(word.format(before.path) for word in command))
    assert found == [["+8.00 MiB", "2.00 MiB", "10.00 MiB", "other", "train.py:88 main"]]
