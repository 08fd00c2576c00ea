# SPDX-License-Identifier: MIT
"""A cache that is full, and blocks that are lost now and then, beside what only looks like one of them."""
import pytest

from support.run import load_json, run_command, sentences_of
from support.tracefile import MIB

LOST = "Look for a path through the function that leaves without the free."


def ask(command, trace):
    return sentences_of(load_json(command, trace.written()))


class Program:
    """Runs steps of which each has its own work, and keeps blocks of one line."""

    def __init__(self, trace, line="load"):
        self.trace, self.line, self.held = trace, trace.stack(line), []
        trace.device(0, "GPU-0", "card", 16 << 30)
        trace.alloc(64 * MIB, stack=trace.stack("weights"))

    def keep(self, size=8 * MIB):
        self.held.append((self.trace.alloc(size, stack=self.line), size))

    def drop(self, index=0):
        self.trace.free(self.held.pop(index)[0])

    def held_bytes(self):
        return sum(size for _, size in self.held)

    def run(self, steps, step):
        for number in range(1, steps + 1):
            self.trace.free(self.trace.alloc(4 * MIB, stack=self.trace.stack("work")))
            step(self, number)
            self.trace.step(number)


def cache_by_number(program, number):
    program.keep()
    if len(program.held) > 40:
        program.drop()


def cache_by_bytes(program, number):
    size = (4 + number * 7 % 9) * MIB
    while program.held_bytes() + size > 320 * MIB:
        program.drop()
    program.keep(size)


def cache_that_is_asked_seldom(program, number):
    if number % 3 == 0:
        cache_by_number(program, number)


CACHES = [(cache_by_number, 56, "320.00 MiB", 40), (cache_by_bytes, 56, "320.00 MiB", 40),
          (cache_that_is_asked_seldom, 160, "320.00 MiB", 120)]  # fmt: skip


@pytest.mark.parametrize("step, steps, size, since", CACHES)
def test_a_cache_that_is_full_is_no_leak(trace, step, steps, size, since):
    Program(trace).run(steps, step)
    assert ask("leaks", trace) == [
        f"No leak so far: load grew to {size} until step {since} and is flat since.",
        "New blocks of this line replace old ones, as in a cache that is full.",
    ]
    said = ask("report", trace)
    assert f"load grew to {size} until step {since} and is flat since; new blocks of this line replace old ones." in said
    assert not any("Leak" in text or "full after" in text for text in said)
    assert run_command("leaks", trace.path, "--fail").returncode == 0


def window_beside_leak(program, number):
    program.keep()
    if len(program.held) > 12 and number % 4:
        program.drop()


def leak_that_pauses(program, number):
    if number <= 50:
        program.keep()


def leak_then_buffers_in_turn(program, number):
    program.keep()
    if number > 40:
        program.drop(-2)


def leak_of_which_some_die_at_the_end(program, number):
    program.keep()
    if number > 54:
        program.drop()


@pytest.mark.parametrize("step", [window_beside_leak, leak_that_pauses, leak_of_which_some_die_at_the_end])
def test_a_leak_stays_a_leak(trace, step):
    Program(trace).run(56, step)
    assert ask("leaks", trace)[0].startswith("Leak: ")


@pytest.mark.parametrize("step", [leak_then_buffers_in_turn])
def test_blocks_that_stay_are_not_said_to_be_replaced(trace, step):
    Program(trace).run(56, step)
    assert "so far" not in " ".join(ask("leaks", trace))


def test_a_saw_is_no_full_cache(trace):
    def step(program, number):
        program.keep()
        if number % 14 == 0:
            while program.held:
                program.drop()

    Program(trace).run(62, step)
    assert "freed at once every 14 steps" in ask("leaks", trace)[0]


def test_a_leak_beside_a_full_cache_is_found(trace):
    program, other = Program(trace), trace.stack("append")

    def step(_, number):
        cache_by_number(program, number)
        trace.alloc(MIB, stack=other)

    program.run(56, step)
    assert ask("leaks", trace)[0] == "Leak: 1.00 MiB per step by append."


# --- without steps ---


def serve(trace, requests, is_lost, line="upload", at_start=0, at_end=0):
    """Makes a block for each request, and frees those that are not lost."""
    stack, held = trace.stack(line), []
    trace.device(0, "GPU-0", "card", 16 << 30)
    trace.alloc(4 * MIB, stack=trace.stack("open"))
    for number in range(requests):
        block = trace.alloc(8 * MIB, stack=stack)
        if number < at_start or number >= requests - at_end or is_lost(number):
            held.append(block)
        else:
            trace.free(block)


def test_blocks_that_are_lost_now_and_then_are_counted(trace):
    serve(trace, 120, lambda number: number % 5 == 2)
    assert ask("leaks", trace) == [
        "Never freed: 24 of the 120 blocks of upload (192.00 MiB).", "96 others of this line are freed.", LOST]  # fmt: skip
    said = ask("report", trace)
    assert said[0] == "Never freed: 24 of the 120 blocks of upload (192.00 MiB)." and LOST in said
    assert load_json("leaks", trace.path)["devices"][0]["leaks"]["growth"][0]["verdict"] == "grows"


def test_the_free_of_pythons_blocks_is_no_path_of_a_function(trace):
    serve(trace, 120, lambda number: number % 5 == 2, line=("serve.py", 7, "upload"))
    said = ask("leaks", trace)
    assert said[0] == "Never freed: 24 of the 120 blocks of serve.py:7 upload (192.00 MiB)." and LOST not in said


@pytest.mark.parametrize("requests, at_start, at_end", [(120, 16, 0), (120, 70, 0), (120, 0, 16), (120, 16, 16)])
def test_buffers_that_are_taken_once_or_still_in_use_are_not_lost(trace, requests, at_start, at_end):
    serve(trace, requests, lambda number: False, at_start=at_start, at_end=at_end)
    assert "Never freed" not in " ".join(ask("leaks", trace) + ask("report", trace))


def test_a_cache_that_is_full_has_lost_nothing(trace):
    program = Program(trace)
    for number in range(160):
        program.keep()
        if len(program.held) > 20 or number % 5:
            program.drop()
    assert "Never freed" not in " ".join(ask("leaks", trace))


def test_blocks_of_the_driver_are_not_lost_if_a_framework_keeps_a_pool(trace):
    serve(trace, 120, lambda number: number % 5 == 2)
    trace.filled_segment(2 * MIB)
    assert "Never freed" not in " ".join(ask("leaks", trace) + ask("report", trace))


@pytest.mark.parametrize("is_let_go, verdict", [(True, "cannot tell"), (False, "leak")])
def test_larger_models_that_a_search_lets_go_before_the_end_of_their_last_step_are_no_leak(trace, is_let_go, verdict):
    """The end of an inferred optimizer comes after what is freed before the next allocation, which the last one lacks."""
    for step in range(1, 31):
        if step % 5 == 1:
            model = trace.alloc(MIB << step // 5, stack=trace.stack("build"))
        if step in (5, 10, 15, 20, 25) and is_let_go:
            trace.free(model)
        trace.step(step)
    assert load_json("leaks", trace.written())["devices"][0]["leaks"]["growth"][0]["verdict"] == verdict
