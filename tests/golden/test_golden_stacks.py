# SPDX-License-Identifier: MIT
"""Compares the whole printed stacks of three small recorded programs with the stacks that a person expects to read.

The golden files hold the text of `peak`, without the project's folder, and without the number of folded frames of the
interpreter and the C runtime, because it depends on their versions.
"""
import pathlib
import re
import sys

import pytest

from support.run import ROOT, run_command

GOLDEN = pathlib.Path(__file__).parent


def stacks(trace):
    text = run_command("peak", trace).stdout
    text = text[text.index("By call stack"):].split("\n\n")[0].rstrip() + "\n"
    text = re.sub(r"\d+ (interpreter|runtime) frames?", r"N \1 frames", text)
    return text.replace(f"{ROOT}/", "")


@pytest.mark.parametrize("name", ["cpp", "threads"])
def test_the_stacks_of_a_cxx_program_read_as_expected(record, program, name):
    trace = record(program({"cpp": "golden_stack", "threads": "golden_threads"}[name])).trace
    assert stacks(trace) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_merged_stacks_of_a_python_program_read_as_expected(record):
    trace = record(sys.executable, GOLDEN / "golden_ctypes.py").trace
    assert stacks(trace) == (GOLDEN / "ctypes.txt").read_text(encoding="utf-8")


def test_a_python_programs_report_heads_each_row_with_the_line_that_is_its_own(record):
    trace = record(sys.executable, GOLDEN / "golden_ctypes.py").trace
    lines = run_command("report", trace).stdout.splitlines()
    sites = [lines[n + 1].strip() for n, line in enumerate(lines) if line.endswith("other")]
    assert sites == [
        "golden_ctypes.py:18 Model.forward, in allocate",
        "golden_ctypes.py:22 batches, in allocate",
        "golden_ctypes.py:36 call_back.<locals>.compare, in allocate",
        "golden_ctypes.py:13 allocate",
    ]
