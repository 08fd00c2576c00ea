# SPDX-License-Identifier: MIT
"""The cause in the step that an allocation failure ended: larger blocks, memory that earlier steps left, or another path."""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace

LAYERS = 10


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db", tells_autograd=1)
    trace.device(0, "GPU-0", "card", 1 << 32)
    return trace


def why(command, trace):
    return " ".join(row["text"] for row in load_json(command, trace.written())["verdict"] if row["role"] == "why")


def resize(trace, layers, size, count=LAYERS):
    """Frees the output of each layer and makes it again."""
    for number in range(count):
        if number in layers:
            trace.free(layers[number])
        layers[number] = trace.alloc(size * MIB, stack=trace.stack(("net.c", 20 + number, "resize")))


@pytest.mark.parametrize("command", ["oom", "steps"])
def test_a_step_that_replaces_what_the_one_before_left_asks_for_larger_blocks(trace, command):
    layers = {}
    for number, size in enumerate((40, 60, 50, 70, 60), 1):
        resize(trace, layers, size)
        trace.step(number)
    resize(trace, layers, 120, LAYERS - 2)
    trace.fail(120 * MIB, stack=trace.stack(("net.c", 20 + LAYERS - 1, "resize")))
    assert "In step 6, the same call stacks asked for blocks 2.00 times as large as in other steps" in why(command, trace)


def test_memory_that_earlier_steps_left_is_the_cause_if_the_failure_finds_it(trace):
    for number in range(1, 7):
        trace.free(trace.alloc(100 * MIB, stack=trace.stack(("net.c", 20, "run"))))
        if number > 4:
            trace.alloc(500 * MIB, stack=trace.stack(("net.c", 30, "log")))
        trace.step(number)
    trace.fail(200 * MIB, stack=trace.stack(("net.c", 20, "run")))
    assert "1000.00 MiB was live when step 7 began, typically 0 B: memory of earlier steps was kept" in why("oom", trace)


@pytest.mark.parametrize("command", ["oom", "steps"])
def test_more_blocks_of_the_same_size_are_no_larger_blocks(trace, command):
    """Windows of 50 MiB are read one after the other, and added up in one map of the volume."""
    window, whole = (trace.stack(("seg.py", line, "infer")) for line in (37, 30))
    for number in range(1, 7):
        held = trace.alloc((200 if number == 6 else 20) * MIB, stack=whole)
        for _ in range(60 if number == 6 else 6):
            trace.free(trace.alloc(50 * MIB, stack=window))
        if number == 6:
            trace.fail(200 * MIB, stack=trace.stack(("seg.py", 39, "infer")))
        else:
            trace.free(held)
            trace.step(number)
    assert "most of it by seg.py:30 infer (+180.00 MiB)" in why(command, trace)


@pytest.mark.parametrize("recorded", [False, True])
def test_an_evaluation_every_four_steps_is_another_path_than_that_of_most_steps(trace, recorded):
    """autograd records the forward of the training, and not the one of an evaluation."""
    forward, evaluate = trace.stack(("train.py", 10, "step")), trace.stack(("train.py", 20, "evaluate"))

    def tensor(size, stack, is_recorded):
        for _ in range(is_recorded):
            trace.event("autograd-node", address=1, object=7, size=0)
        made = trace.tensor(1 << 40, size * MIB, stack=stack)
        trace.event("autograd-node", address=1, object=0, size=0)
        trace.tensor_free(made)

    for number in range(1, 18):
        if number % 4 == 1 and number > 1:
            tensor(400, evaluate, recorded)
        tensor(50, forward, True)
        trace.step(number)
    said = why("steps", trace)
    assert "call stacks that most other steps do not have allocated 400.00 MiB" in said
    assert said.endswith("such as an evaluation.") != recorded


@pytest.mark.parametrize("line", [10, 20])
def test_a_large_request_of_an_evaluation_is_said_to_be_of_another_path(trace, line):
    """The evaluation holds 100 MiB when 2,000 MiB are asked for, by a line of its own (20) or by one of the training (10)."""
    forward, evaluate = trace.stack(("train.py", 10, "step")), trace.stack(("train.py", 20, "evaluate"))
    for number in range(1, 7):
        trace.event("autograd-node", address=1, object=7, size=0)
        made = trace.tensor(1 << 40, 50 * MIB, stack=forward)
        trace.event("autograd-node", address=1, object=0, size=0)
        trace.tensor_free(made)
        trace.step(number)
    trace.tensor(1 << 40, 100 * MIB, stack=evaluate)
    trace.fail(2000 * MIB, "tensor", stack=forward if line == 10 else evaluate)
    said = why("oom", trace)
    assert ("another path through the program, without autograd, such as an evaluation" in said) == (line == 20)


@pytest.mark.parametrize("grows, evaluations, freed", [(True, 0, 0), (False, 0, 0), (True, 3, 0), (True, 0, 3)])
def test_a_path_that_enlarges_what_it_keeps_is_no_evaluation(trace, grows, evaluations, freed):
    """Every fifth step adds rows to the parameters. In the second case it makes copies of one size. In the others, the last
    step also evaluates: it holds three blocks, or has freed them."""
    forward = trace.stack(("train.py", 10, "step"))
    lines = [trace.stack(("train.py", 30 + number, "add_rows")) for number in range(2)]
    rows, size = [], 100.0

    def tensor(size, stack, is_recorded):
        for _ in range(is_recorded):
            trace.event("autograd-node", address=1, object=7, size=0)
        made = trace.alloc(int(size * MIB), "tensor", stack=stack)
        trace.event("autograd-node", address=1, object=0, size=0)
        return made

    for number in range(1, 36):
        if number % 5 == 0:
            size *= 1.2 if grows else 1
            added = [tensor(size, line, False) for line in lines]
            for row in rows:
                trace.free(row, "tensor")
            rows = added
        evaluated = [tensor(size * 0.9, trace.stack(("train.py", 60 + each, "evaluate")), False)
                     for each in range(evaluations + freed if number == 35 else 0)]  # fmt: skip
        for block in evaluated[evaluations:]:
            trace.free(block, "tensor")
        made = tensor(50, forward, True)
        if number == 35:
            trace.fail(50 * MIB, "tensor", stack=forward)
            break
        trace.free(made, "tensor")
        trace.step(number)
    said = why("oom", trace)
    assert "In step 35, call stacks that most other steps do not have hold " in said
    is_cause = grows and not evaluations
    assert ("kept blocks that get larger" in said, "such as an evaluation" in said) == (is_cause, not is_cause)
    page = str(load_json("oom", trace.path)["verdict"])
    assert ("Give the blocks of train.py:30 add_rows their final size, or a limit." in page) == is_cause
    assert not (is_cause and "alf the batch" in page)
    assert ("kept blocks that get larger" in why("steps", trace)) == (is_cause and not freed)


@pytest.mark.parametrize("lines, is_advised", [(4, True), (12, False)])
def test_no_setting_of_the_allocator_is_advised_to_a_step_that_needs_more_than_all_idle_memory(tmp_path, lines, is_advised):
    """The last batch is six times as large. Two of its tensors leave 40 MiB idle in each segment, and 100 MiB of the card."""
    trace = Trace(tmp_path / "trace.db")
    trace.device(total_bytes=412 * MIB)
    trace.device_memory(300 * MIB, 412 * MIB)
    trace.rows["framework"] = [("torch", "2.6.0")]
    segments = [trace.filled_segment(100 * MIB) for _ in range(2)]
    stacks = [trace.stack(("train.py", line, "main")) for line in range(lines)]
    for segment in segments:
        trace.tensor_free(segment)
    for number in range(1, 6):
        made = [segments[line // 10] + line % 10 * 10 * MIB for line in range(lines)]
        for address, stack in zip(made, stacks):
            trace.tensor(address, 10 * MIB, stack=stack)
        for address in made:
            trace.tensor_free(address)
        trace.step(number)
    for segment, stack in zip(segments, stacks):
        trace.tensor(segment, 60 * MIB, stack=stack)
    trace.device_memory(100 * MIB, 412 * MIB)
    for memory in ("linear", "linear", "tensor"):
        trace.fail(150 * MIB, memory, stack=stacks[2])
    page = load_json("oom", trace.write())
    assert "expandable_segments" in [row["remedy"] for row in page["remedies"]]
    do = " ".join(row["text"] for row in page["verdict"] if row["role"] == "do")
    assert ("expandable_segments" in do) == is_advised
