# SPDX-License-Identifier: MIT
"""Every row of `peak --by` and `peak --tree` of real runs equals the slow second implementation, to the byte."""

import pytest

from reference import site_tables
from reference.books import Books
from reference.comparing import ask
from reference.figures import Figures
from support.run import load_json

RUNS = {
    "mlp": ("mlp.py", "adam"),
    "gpt": ("gpt.py",),
    "cnn": ("cnn.py",),
    "lstm": ("lstm.py",),
    "inference": ("inference.py",),
    "autograd": ("autograd.py",),
}


@pytest.mark.parametrize("name", RUNS)
def test_who_held_the_memory_is_that_of_a_slow_reading(name, dry_run):
    trace = dry_run(*RUNS[name]).trace
    figures = Figures(Books(trace))
    moments = ["peak", "end", *sorted({f"phase:{span.path.name}" for span in figures.books.spans})]
    found = [text for at in moments for text in site_tables.check(trace, figures, ask, at)]
    assert not found, "\n".join(found[:20])


def test_a_file_is_to_blame_for_the_backwards_of_its_lines(dry_run):
    (device,) = load_json("peak", dry_run("gpt.py").trace, "--by=file")["devices"]
    rows = [row for row in device["groups"] if row["layer"] == "pool"]
    assert not any("Backward" in row["name"] and row["name"].endswith(".py") for row in rows)
    assert rows[0]["name"].endswith("/gpt.py") and rows[0]["own_bytes"] > sum(row["own_bytes"] for row in rows) * 0.9
