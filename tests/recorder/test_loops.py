# SPDX-License-Identifier: MIT
"""Leaks in a recorded program, and patterns that only look like leaks. The verdict is the one that a person would
give."""
import re

import pytest

from support.run import ROOT, load_json, texts_of

SOURCE = (ROOT / "tests/programs/calls/loops.c").read_text().splitlines()
CARD_KIB = 16 << 20


def line_of(function, call):
    """Returns the line of `function` that calls `call`."""
    begin = next(number for number, line in enumerate(SOURCE) if f"static void {function}(" in line)
    return next(number for number, line in enumerate(SOURCE, 1) if number > begin and call in line)


@pytest.fixture
def verdict(record, program):
    """Returns verdict(loop), which returns the finding of `leaks`, what is held, and the growth that `leaks` reports."""

    def run(loop):
        page = load_json("leaks", record(program("loops"), loop).trace)
        return texts_of(page, "what"), texts_of(page, "who"), page["devices"][0]["leaks"]["growth"][0]

    return run


@pytest.mark.parametrize(
    "loop, call, kib_per_step, off, growth_text",
    [
        ("losses", "take(256)", 256, 0, "256.00 KiB per step"),
        ("error_path", "take(512)", 512 / 7, 2, "512.00 KiB every 7 steps"),
        ("unmarked", "take(64)", 64, 1, r"[\d.]+ KiB per step"),
    ],
)
def test_a_leak_is_named_with_its_line_and_bytes_per_step(verdict, loop, call, kib_per_step, off, growth_text):
    says, who, growth = verdict(loop)
    assert growth["verdict"] == "leak"
    assert abs(growth["leak_bytes_per_step"] / 1024 - kib_per_step) <= off
    assert re.match(rf"Leak: {growth_text} by loops\.c:{line_of(loop, call)} {loop}\.$", says), says
    left = int(re.search(r"the card is full after about ([\d,]+) more", who)[1].replace(",", ""))
    assert 0.9 <= left / (CARD_KIB / kib_per_step) <= 1


@pytest.mark.parametrize("loop, expected", [
    ("cache_fills", "live bytes are flat since step 46 of 120."),
    ("cache_empties", "+512.00 KiB per step by loops.c:77 cache_empties, freed at once every 16 steps."),
    ("batch_varies", "live bytes do not grow from step to step (120 steps)."),
])  # fmt: skip
def test_what_only_looks_like_a_leak_is_none(verdict, loop, expected):
    says, _, growth = verdict(loop)
    assert (growth["verdict"], says) == ("no leak", "No leak: " + expected)
