# SPDX-License-Identifier: MIT
"""Tensors that a backward pass allocates are attributed to the line of their forward operator."""
import pytest

from reference.figures import forward_stacks
from reference.books import Books
from support.pytorch_builds import SCRIPTS
from support.run import load_json

LINES = (SCRIPTS / "autograd.py").read_text(encoding="utf-8").splitlines()


def comment_of(frames):
    """Returns the comment on the innermost line of autograd.py in `frames`; None if there is no such line."""
    lines = [line for kind, _, file, line in frames if kind == "python" and file.endswith("/autograd.py")]
    return LINES[lines[0] - 1].partition("  # ")[2] if lines else None


def comments(recording):
    """Returns one entry for each tensor that a backward pass allocates, in order: the comment on its forward line, or
    None."""
    books = Books(recording.trace)
    return [comment_of(books.stack_frames(stack)) if stack else None for stack in forward_stacks(books).values()]


def test_backward_tensors_have_the_lines_of_their_forward_operators(dry_run):
    found = comments(dry_run("autograd.py"))
    plain = ["exponential", "sine", "sine", "rectify", "multiply"]
    assert [text for text in found if text][: len(plain)] == plain
    assert set(found) - {None} == {"exponential", "sine", "rectify", "multiply", "chunk", "product", "in place"}  # None: leaves


@pytest.mark.parametrize("script", ["cnn", "diffusion", "encoder", "gpt", "lstm", "resnet", "translate", "vae"])
def test_each_large_backward_tensor_has_a_line_of_the_script(dry_run, script):
    books = Books(dry_run(f"{script}.py").trace)
    large = {index: stack for index, stack in forward_stacks(books).items() if books.events[index].size > 1 << 20}
    assert large
    without = [
        (index, books.stack_frames(books.events[index].stack)[:4]) for index, stack in large.items()
        if not stack or not any(kind == "python" and file.endswith(f"/{script}.py") for kind, _, file, _ in books.stack_frames(stack))
    ]  # fmt: skip
    assert not without


def test_what_the_analyzer_says_is_what_a_slow_reading_says(dry_run):
    recording = dry_run("autograd.py")
    books = Books(recording.trace)
    forward = forward_stacks(books)
    last = max(index for index, stack in forward.items() if stack)
    seq = books.events[last].seq
    (device,) = load_json("frag", "--segments", f"--at={seq}", recording.trace)["devices"]
    blocks = {b["address"]: b["forward_stack_id"] for s in device["segments"] for b in s["blocks"]}
    assert blocks[books.events[last].address] == forward[last]
    wanted = {
        block.address: forward.get(block.begin)
        for block in books.blocks
        if block.account[1] == "pool" and block.begin <= last and (block.end is None or block.end > last)
    }
    assert blocks == wanted


def test_after_a_backward_that_failed_the_next_tensor_is_of_none(dry_run):
    recording = dry_run("autograd.py")
    assert "out of memory" in recording.completed.stdout
    books = Books(recording.trace)
    (event,) = [
        event for event in books.events
        if event.kind == "alloc" and event.memory == "tensor" and comment_of(books.stack_frames(event.stack)) == "after"
    ]  # fmt: skip
    nodes = [e for e in books.events[: event.index] if e.kind == "autograd-node" and e.thread == event.thread]
    assert (nodes[-1].object, nodes[-1].size) == (0, 0)
    assert event.index not in forward_stacks(books)


def test_no_frame_of_the_recorder_stands_in_a_backward(dry_run):
    recording = dry_run("autograd.py")
    rows = recording.rows(
        "SELECT count(*) FROM native_frames AS own JOIN frame USING (frame_id) JOIN native_frames AS outer"
        " ON outer.frame_id = frame.parent_id WHERE own.path LIKE '%/libgpumemtrace.so' AND outer.path NOT LIKE '%/libc.so%'"
    )
    assert rows == [(0,)]
