# SPDX-License-Identifier: MIT
"""Compares `peak --by` and `peak --tree` with a slow reading of the tables, on recorded programs: native and inlined frames,
helpers in headers, libraries, threads without Python."""

import sys

import pytest

from reference import site_tables
from reference.books import Books
from reference.comparing import ask
from reference.figures import Figures
from support.run import ROOT, run_command

SAMPLES = ("train", "pool", "leak", "fragment")
PROGRAMS = ("golden_stack", "golden_threads")


def differences(trace):
    assert run_command("resolve", trace).returncode == 0
    figures = Figures(Books(trace))
    return [text for at in ("peak", "end") for text in site_tables.check(trace, figures, ask, at)]


@pytest.mark.parametrize("name", SAMPLES)
def test_who_held_the_memory_of_a_sample_is_that_of_a_slow_reading(record, sample, name):
    assert not differences(record(sample(name), check=False).trace)


@pytest.mark.parametrize("name", PROGRAMS)
def test_who_held_the_memory_of_a_program_is_that_of_a_slow_reading(record, program, name):
    assert not differences(record(program(name)).trace)


def test_who_held_the_memory_of_a_python_program_is_that_of_a_slow_reading(record):
    assert not differences(record(sys.executable, ROOT / "tests/golden/golden_ctypes.py").trace)
