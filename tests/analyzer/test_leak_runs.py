# SPDX-License-Identifier: MIT
"""Runs of real programs. Some leak, and some only look as if they leaked; each must get the verdict that a person would
give. Runs on the simulator are in this file. Runs of PyTorch, without marked steps, are in
tests/pytorch/test_pytorch_growth.py.

    leaks                                      only looks like a leak
    a list of losses           PyTorch: list     the states of Adam         PyTorch: adam
    a module-level cache       PyTorch: cache    batches of many lengths    PyTorch: lengths
    a closure                  PyTorch: closure  the last eight of a cache  PyTorch: bounded
    losses of a C program      samples/leak.c    the last eight batches     keeps_the_last
    an early return            forgets_…         an arena that doubles      doubles
    requests freed on no stream  frees_on_…      what is written out        empties_itself
    pieces that never come back  keeps_pieces    a loop that frees all      samples/train.c

    no leak, but growing: a cache of tokens (copies_the_cache; PyTorch: generate), a list (doubles_for_ever)
"""
import re

import pytest

from support.run import ROOT, load_json

MIB = 1 << 20
SOURCE = (ROOT / "tests/programs/calls/known_growth.c").read_text(encoding="utf-8").splitlines()


def verdict(recording):
    page = load_json("leaks", recording.trace)
    found = page["devices"][0]["leaks"]
    return page["answer"][0], found["growth"], found["growing"]


def function_of(name):
    """Returns (first line, last line) of the C function."""
    first = next(number for number, line in enumerate(SOURCE, 1) if line.startswith(f"static void {name}("))
    return first, next(number for number, line in enumerate(SOURCE, 1) if number > first and line == "}")


# Each of these functions runs for 40 steps. The first forgets 2 MiB in every second step, which is 1 MiB per step.
@pytest.mark.parametrize("way, bytes_per_step, layer",
    [("forgets_every_second", MIB, "driver"), ("frees_on_no_stream", 3 * MIB, "driver"), ("keeps_pieces", MIB, "pool")])  # fmt: skip
def test_a_leak_is_named_with_its_line_and_bytes_per_step(record, program, way, bytes_per_step, layer):
    says, growth, growing = verdict(record(program("known_growth"), way))
    (leak,) = [row for row in growth if row["verdict"] == "leak"]
    assert leak["layer"] == layer
    assert leak["leak_bytes_per_step"] == pytest.approx(bytes_per_step, rel=0.02)
    assert re.match(r"Leak: [\d.]+ MiB (per step|every 2 steps)", says)
    line = int(re.search(r"known_growth\.c:(\d+) " + way, says)[1])
    assert function_of(way)[0] < line < function_of(way)[1]


@pytest.mark.parametrize("way, opening", [
    ("keeps_the_last", "No leak: live bytes do not grow from step to step (40 steps)."),
    ("doubles", "No leak: live bytes are flat since step 5 of 40."),
    ("empties_itself", "No leak: +1.00 MiB per step by known_growth.c:"),
])  # fmt: skip
def test_what_only_looks_like_a_leak_is_none(record, program, way, opening):
    says, growth, growing = verdict(record(program("known_growth"), way))
    assert says.startswith(opening)
    assert not growing or says.endswith(", freed at once every 8 steps.")
    assert {row["verdict"] for row in growth} == {"no leak"}


# The cache grows by 1 MiB per step in each of four layers. In 40 steps the list doubles six times, to 64 MiB.
@pytest.mark.parametrize("way, at_least, at_most", [("copies_the_cache", 4 * MIB, 4 * MIB), ("doubles_for_ever", MIB, 3 * MIB)])
def test_what_is_copied_to_make_room_gets_larger_and_is_no_leak(record, program, way, at_least, at_most):
    says, growth, (row,) = verdict(record(program("known_growth"), way))
    assert re.match(r"No leak, but kept blocks get larger: [\d.]+ MiB per step", says)
    line = int(re.search(r"by known_growth\.c:(\d+) " + way, says)[1])
    assert function_of(way)[0] < line < function_of(way)[1]
    assert growth[0]["verdict"] == "grows" and row["enlarged"] and growth[0]["leak_bytes_per_step"] == 0
    assert at_least <= growth[0]["enlarged_bytes_per_step"] == row["bytes_per_step"] <= at_most


def test_the_sample_that_keeps_its_losses_leaks_and_the_one_that_trains_does_not(record, sample):
    assert verdict(record(sample("leak"), name="leak.db"))[0].startswith("Leak: 1.00 MiB per step")
    assert verdict(record(sample("train"), name="train.db"))[0].startswith("No leak")
