# SPDX-License-Identifier: MIT
"""Leaks of memory that is not the card's: managed memory, and pinned memory of the host. The driver's memory of a pool is no
leak beside the pool."""
import re

import pytest

from support.run import load_json, run_command, sentences_of


def ask(command, trace):
    return sentences_of(load_json(command, trace.written()))


def train(trace, steps, per_step):
    for number in range(1, steps + 1):
        per_step(number)
        trace.step(number)


def serve(trace, steps, kept=(), card_bytes=512 << 20):
    """Makes steps of flat device memory. `kept` has (memory, bytes, line) of blocks of which each step keeps one."""
    trace.device(0, "GPU-0", "card", 16 << 30)
    trace.alloc(card_bytes, stack=trace.stack("weights"))

    def step(_):
        trace.free(trace.alloc(1 << 20, stack=trace.stack("work")))
        for memory, size, line in kept:
            trace.alloc(size, memory, stack=trace.stack(line))

    train(trace, steps, step)


@pytest.mark.parametrize("memory, kind, release", [
    ("pinned", "pinned host memory", "cudaFreeHost"), ("registered", "pinned host memory", "cudaHostUnregister"),
    ("managed", "managed memory", "cudaFree"),
])  # fmt: skip
@pytest.mark.parametrize("command", ["leaks", "report"])
def test_memory_beside_the_cards_leaks_with_its_own_advice_and_does_not_fill_the_card(trace, command, memory, kind, release):
    serve(trace, 20, [(memory, 8 << 20, "prepare")])
    assert ask(command, trace) == [
        f"Leak: 8.00 MiB per step by prepare in {kind}.",
        "No block of this line was ever freed.",
        "160.00 MiB of it is live after 20 steps, kept since the first step.",
        f"Free each block when it is no longer needed; {release} gives this memory back.",
    ]
    assert run_command("leaks", trace.path, "--fail").returncode == 1
    text = run_command("leaks", trace.path).stdout
    assert re.search(r"driver +no leak", text) and re.search(r"(managed|pinned host) +leak", text)


@pytest.mark.parametrize("fails_from, sentences", [
    (1, ["The program frees these blocks, but the calls fail, so the blocks stay.",
         "160.00 MiB of it is live after 20 steps, kept since the first step.",
         "Look at what the free returns. A function that a stream calls may not free memory."]),
    (15, ["Some blocks of this line are freed and others are not.",
          "144.00 MiB of it is live after 20 steps, kept since step 3.",
          "Look for a path through the function that leaves without the free; cudaFreeHost gives this memory back."]),
])  # fmt: skip
def test_frees_that_fail_are_the_cause(trace, fails_from, sentences):
    """In the second case, the program does not free most of its blocks."""
    serve(trace, 0)

    def step(number):
        block = trace.alloc(8 << 20, "pinned", stack=trace.stack("prepare"))
        if number >= fails_from or number < 3:
            trace.free(block, "pinned", result=800 if number >= fails_from else 0)

    train(trace, 20, step)
    assert ask("leaks", trace)[0] == "Leak: 8.00 MiB per step by prepare in pinned host memory."
    assert ask("leaks", trace)[1 : 1 + len(sentences)] == sentences
    text = run_command("report", trace.path).stdout
    assert f"{21 - fails_from} blocks stayed although the program freed them" in text
    assert "failed with error 800 (cudaErrorNotPermitted)" in re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("later, result, said", [(False, 900, True), (True, 900, False), (False, 4, False)])
def test_a_free_that_fails_is_said_unless_a_later_one_works_or_the_process_ends(trace, later, result, said):
    block = trace.alloc(8 << 20)
    trace.free(block, result=result)
    if later:
        trace.free(block)
    assert ("1 block stayed although the program freed it" in run_command("report", trace.written()).stdout) == said


def test_tensors_in_pinned_memory_are_to_be_dropped(trace):
    serve(trace, 20, [("pinned", 8 << 20, ("train.py", 7, "main"))])
    assert ask("leaks", trace)[2:] == ["Drop what keeps the buffers of this line, or use one buffer again."]


@pytest.mark.parametrize("device, pinned, answer", [
    (4, 8, ["Leak: 8.00 MiB per step by stage in pinned host memory.",
            "Another leak: 4.00 MiB per step by load in device memory."]),
    (8, 4, ["Leak: 8.00 MiB per step by load.",
            "Another leak: 4.00 MiB per step by stage in pinned host memory."]),
])  # fmt: skip
def test_the_steeper_of_two_leaks_opens_and_the_other_is_named(trace, device, pinned, answer):
    serve(trace, 20, [("linear", device << 20, "load"), ("pinned", pinned << 20, "stage")])
    for command in ("leaks", "report"):
        said = ask(command, trace)
        assert [said[0], said[-1]] == answer


def test_no_leak_names_the_kinds_of_memory_that_were_looked_at(trace):
    for _ in range(4):
        trace.alloc(1 << 20, "pinned", stack=trace.stack("stage"))
    serve(trace, 20)
    both = "No leak: live bytes of device memory and pinned host memory do not grow from step to step (20 steps)."
    assert ask("leaks", trace)[0] == both
    assert run_command("leaks", trace.path, "--layer=driver").stdout.startswith("No leak: live bytes do not grow")


def test_a_pinned_cache_that_stops_growing_is_no_leak(trace):
    weights, stage = trace.stack("weights"), trace.stack("stage")
    trace.alloc(512 << 20, stack=weights)
    train(trace, 40, lambda step: step <= 6 and trace.alloc(1 << 20, "pinned", stack=stage))
    both = "No leak: live bytes of device memory and pinned host memory are flat since step 6 of 40."
    assert ask("leaks", trace)[0] == both


def test_pinned_bytes_that_vary_too_much_are_not_called_free_of_leaks(trace):
    trace.alloc(512 << 20, stack=trace.stack("weights"))
    held, stage = [], trace.stack("stage")

    def step(number):
        while held:
            trace.free(held.pop(), "pinned")
        for _ in range(7 * number % 13 + number // 2):
            held.append(trace.alloc(1 << 20, "pinned", stack=stage))

    train(trace, 10, step)
    assert ask("leaks", trace) == [
        "No leak: live bytes of device memory do not grow from step to step (10 steps).",
        "Cannot tell for pinned host memory, because its bytes differ too much from step to step.",
    ]


def test_a_small_leak_of_pinned_memory_does_not_open_the_report(trace):
    serve(trace, 20, [("pinned", 4096, "counter")])
    assert ask("leaks", trace)[0].startswith("Leak: 4.00 KiB per step by counter in pinned host memory")
    assert ask("report", trace)[0].startswith("Peak ")


def test_rounds_of_pinned_memory_are_steps_where_the_cards_memory_has_none(trace):
    trace.alloc(1 << 20, stack=trace.stack("weights"))
    for _ in range(30):
        held = trace.alloc(1 << 20, "pinned", stack=trace.stack("request"))
        trace.free(trace.alloc(1 << 20, "pinned", stack=trace.stack("decode")), "pinned")
        trace.alloc(2 << 20, "pinned", stack=trace.stack("log"))
        trace.free(held, "pinned")
    assert ask("leaks", trace)[0] == "Leak: 2.00 MiB per step by log in pinned host memory."
    assert load_json("leaks", trace.path)["devices"][0]["leaks"]["growth"][1]["steps"] == 29  # the last round may be cut


@pytest.mark.parametrize("of_card", [True, False])
def test_one_line_of_each_memory_makes_rounds_and_judges_the_pinned_one_alone(trace, of_card):
    for number in range(60):
        staging = trace.alloc(8 << 20, "pinned", stack=trace.stack(("serve.c", 3, "stage")))
        frames = trace.alloc(8 << 20, stack=trace.stack(("serve.c", 5, "answer")))
        if of_card:  # as a program does that loads its weights through a pinned buffer
            trace.free(staging, "pinned")
        else:
            trace.free(frames)
            if number % 2:
                trace.free(staging, "pinned")
    said = ask("leaks", trace)[0]
    if of_card:
        assert said.startswith("Cannot tell whether memory leaks: ")
    else:
        assert said == "Leak: 8.00 MiB every 2 steps by serve.c:3 stage in pinned host memory."


def test_a_leak_that_only_some_steps_have_says_how_many(trace):
    staging, weights = trace.stack("staging"), trace.stack("weights")
    trace.alloc(512 << 20, stack=weights)

    def step(number):
        block = trace.alloc(8 << 20, "pinned", stack=staging)
        if number % 3:
            trace.free(block, "pinned")

    train(trace, 60, step)
    assert ask("leaks", trace)[1] == ("Some blocks of this line are freed and others are not; 20 of 58 steps keep a block of "
                                      "8.00 MiB, the others none.")  # fmt: skip


@pytest.mark.parametrize("lines_count, flushes", [(20, False), (1, False), (1, True)])
def test_what_a_pool_takes_for_larger_requests_is_no_leak_of_the_driver(trace, lines_count, flushes):
    """Each request is larger than all segments, whose tensors were freed. The pool may give them back at the end."""
    segments = []

    def step(number):
        segments.append(trace.alloc((1 << 20) + number, stack=trace.stack(("train.py", number % lines_count, "main"))))
        trace.tensor_free(trace.tensor(segments[-1], 1 << 20, stack=trace.stack(("train.py", 7, "main"))))

    train(trace, 20, step)
    for segment in segments if flushes else []:
        trace.free(segment)
    assert ask("leaks", trace)[0] == "No leak: live bytes do not grow from step to step (20 steps)."


@pytest.mark.parametrize("freed, named", [(0, True), (1, False)])
def test_pinned_blocks_that_a_program_without_steps_never_frees_are_named(trace, freed, named):
    trace.free(trace.alloc(8 << 20, stack=trace.stack("frame")))
    blocks = [trace.alloc(8 << 20, "pinned", stack=trace.stack("upload")) for _ in range(60)]
    for block in blocks[:freed]:
        trace.free(block, "pinned")
    kept = "60 blocks by upload were never freed (480.00 MiB in pinned host memory)."
    assert (kept in ask("leaks", trace)) == named
    text = run_command("leaks", trace.path).stdout
    assert re.search(r"Live at exit\n.*\n +4[78]\d\.00 MiB +100.0 % +(59|60) .*\n +upload", text)


@pytest.mark.parametrize("size, more", [(1, ""), (3, ", more than the card's 16.00 GiB")])
def test_much_managed_memory_is_said_with_its_line(trace, size, more):
    trace.device(0, "GPU-0", "card", 16 << 30)
    trace.alloc(1 << 30, stack=trace.stack("result"))
    for _ in range(6):
        trace.alloc(size << 30, "managed", stack=trace.stack("tables"))
    assert f"Managed memory peaked at {6 * size}.00 GiB{more}, most of it by tables ({6 * size}.00 GiB)." in ask("report", trace)
