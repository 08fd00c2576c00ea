# SPDX-License-Identifier: MIT
"""Blame: the line that heads a row of `peak`, which depends on the other rows; and the stacks that share a row."""
import pytest

from support.run import load_json, run_command, texts_of

SIZES = 800, 80, 8, 1
MAIN, OTHER = ("/me/train.py", 88, "main"), ("/me/train.py", 90, "main")
HELPER, NEW = ("/me/tensor.py", 5, "floats"), ("/me/tensor.py", 9, "tensor_new")
TORCH = "/v/lib/python3.11/site-packages/torch/nn/modules"


def line(number, function):
    return ("/me/model.py", number, function)


def rows(trace, *stacks):
    """Returns {head: (bytes, blocks)} from the text of `peak`. The stack with number i allocates SIZES[i] bytes."""
    for number, stack in enumerate(stacks):
        trace.alloc(SIZES[number], stack=trace.stack(*stack))
    lines = run_command("peak", trace.write()).stdout.split("Share")[1].splitlines()[1:]
    found = {}
    for above, head in zip(lines, lines[1:]):
        if "%" in above:
            assert head.strip() not in found, "two rows read alike"
            size, unit, _, _, blocks = above.split()[:5]
            assert unit == "B"
            found[head.strip()] = int(size), int(blocks)
    return found


def test_a_stack_alone_is_headed_by_the_line_nearest_to_the_allocation(trace):
    assert rows(trace, [line(1, "forward"), MAIN]) == {"model.py:1 forward": (800, 1)}


@pytest.mark.parametrize("file", ["amp/grad_scaler.py", "optim/adam.py", "fx/graph_module.py", "_tensor.py", "library.py"])
def test_pytorch_is_not_the_programs_wherever_it_was_installed(trace, file):
    assert rows(trace, [(f"/opt/torch/{file}", 388, "step"), MAIN]) == {"train.py:88 main, in step": (800, 1)}


def test_a_helper_that_several_rows_go_through_heads_none_of_them(trace):
    assert rows(trace, [NEW, HELPER, line(1, "loss"), MAIN], [NEW, HELPER, line(2, "step"), MAIN], [NEW, HELPER, MAIN]) == {
        "model.py:1 loss, in floats": (800, 1),
        "model.py:2 step, in floats": (80, 1),
        "train.py:88 main, in floats": (8, 1),
    }


def test_lines_that_are_reached_in_two_ways_are_one_row_each(trace):
    ways = [[line(number, "forward"), caller] for number in (1, 2) for caller in (MAIN, OTHER)]
    assert rows(trace, *ways) == {"model.py:1 forward": (880, 2), "model.py:2 forward": (9, 2)}


def test_a_line_that_alone_is_reached_in_two_ways_is_told_apart_by_its_callers(trace):
    assert rows(trace, [line(1, "forward"), MAIN], [line(1, "forward"), OTHER]) == {
        "train.py:88 main, in forward": (800, 1), "train.py:90 main, in forward": (80, 1),
    }  # fmt: skip


def test_stacks_that_differ_inside_a_framework_alone_are_told_apart_by_what_was_called(trace):
    linear, relu, other = ((f"{TORCH}/x.py", number, name) for number, name in ((1, "Linear"), (2, "relu"), (3, "Linear")))
    assert rows(trace, [linear, MAIN], [relu, MAIN], [other, MAIN]) == {
        "train.py:88 main, in Linear": (808, 2), "train.py:88 main, in relu": (80, 1),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["pool_allocate", "safe_cuda_malloc", "Pool.alloc", "CachingAllocator.take", "xmalloc"])
def test_an_allocators_wrapper_heads_no_row(trace, name):
    assert rows(trace, [line(1, name), MAIN]) == {f"train.py:88 main, in {name}": (800, 1)}


@pytest.mark.parametrize("name", ["allocate_kv_cache", "malloc_stats", "forward"])
def test_a_function_that_only_speaks_of_allocating_does(trace, name):
    assert rows(trace, [line(1, name), MAIN]) == {f"model.py:1 {name}": (800, 1)}


def test_a_wrapper_that_is_all_there_is_heads_its_row(trace):
    assert rows(trace, [line(1, "xmalloc")]) == {"model.py:1 xmalloc": (800, 1)}


def native(trace, number, file, function):
    address = 0x10000 + 16 * number
    trace.name(address, (file, number, function))
    return address


def test_our_public_header_is_not_the_program(trace):
    trace.rows["module"].append((1, "/me/train", None, 0x10000, 0x10000, 0x20000))
    stack = [native(trace, 1, "include/gpumemtrace/gpumemtrace.h", "gpumemtrace_pool_alloc"), native(trace, 2, "a.c", "main")]
    assert rows(trace, stack) == {"a.c:2 main": (800, 1)}


@pytest.mark.parametrize(
    "lines, heads",
    [((1,), {"a.cpp:3 main, in Buffer": (800, 1)}),
     ((1, 2), {"buffer.hpp:1 Buffer": (800, 1), "buffer.hpp:2 Buffer": (80, 1)})],
)  # fmt: skip
def test_a_header_heads_a_row_only_where_no_source_file_says_as_much(trace, lines, heads):
    trace.rows["module"].append((1, "/me/train", None, 0x10000, 0x10000, 0x20000))
    main = native(trace, 3, "a.cpp", "main")
    assert rows(trace, *([native(trace, number, "buffer.hpp", "Buffer"), main] for number in lines)) == heads


def test_rows_of_one_line_are_one_row_whatever_their_phase(trace):
    stack = trace.stack(MAIN)
    for phase, size in (("forward", 30), ("backward", 2)):
        with trace.phase(phase):
            trace.alloc(size, stack=stack)
    assert rows(trace) == {"train.py:88 main": (32, 2)}
    assert "forward, …" in run_command("peak", trace.path).stdout


def test_without_a_stack_the_phase_tells_rows_apart(trace):
    for phase, size in (("forward", 30), ("backward", 2)):
        with trace.phase(phase):
            trace.alloc(size)
    text = run_command("peak", trace.write()).stdout
    assert text.count("(no stack was taken)") == 2


def test_a_program_keeps_one_row_for_each_stack_with_the_line_that_heads_it(trace):
    rows(trace, *([line(number, "forward"), caller] for number in (1, 2) for caller in (MAIN, OTHER)))
    sites = load_json("peak", trace.path)["devices"][0]["sites"]
    assert [(site["bytes"], site["site"]) for site in sites] == [
        (800, "model.py:1 forward"), (80, "model.py:1 forward"), (8, "model.py:2 forward"), (1, "model.py:2 forward"),
    ]  # fmt: skip
    assert [len(site["frames"]) for site in sites] == [2, 2, 2, 2]


def test_how_many_stacks_a_row_stands_for_is_said(trace):
    rows(trace, *([line(number, "forward"), caller] for number in (1, 2) for caller in (MAIN, OTHER)))
    assert run_command("peak", trace.path).stdout.count("… and 1 other call stack of that line") == 2


def backward(trace, number, size, stack, thread=2):
    """Adds a forward with `stack` and the autograd node `number`, and after that a tensor that the backward of this
    node allocates."""
    trace.event("autograd-node", object=number, address=1, size=0)
    trace.free(trace.tensor(trace.place, size, "pytorch", stack=trace.stack(*stack)), "tensor")
    trace.event("autograd-node", object=number, address=1, size=1, thread=thread)
    functions = ("torch::autograd::generated::MmBackward0::apply", "torch::autograd::Engine::thread_main")
    frames = [native(trace, 100 + place, None, function) for place, function in enumerate(functions)]
    trace.tensor(trace.place, size, "pytorch", stack=trace.stack(*frames), thread=thread)
    trace.place += size


def test_a_backward_allocation_is_headed_by_the_forward_line_too_where_that_is_known(trace):
    trace.rows["module"].append((1, "/me/libtorch_cpu.so", None, 0x10000, 0x10000, 0x20000))
    trace.place = trace.alloc(20 << 20)
    for number, (size, stack) in enumerate(((5120, [line(1, "f"), MAIN]), (2048, [line(2, "f"), MAIN])), 1):
        backward(trace, number, size, stack)
    trace.write()
    sites = load_json("peak", "--at=end", trace.path)["devices"][0]["sites"]
    found = [(site["bytes"], site["site"]) for site in sites if site["layer"] == "pool"]
    assert found == [(5120, "MmBackward0 of model.py:1 f"), (2048, "MmBackward0 of model.py:2 f")]
    who = texts_of(load_json("peak", "--at=end", trace.path), "who")
    assert who.endswith("by MmBackward0 of model.py:1 f (5.00 KiB).")
