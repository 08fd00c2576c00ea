# SPDX-License-Identifier: MIT
"""Names of native frames, held against a program that knows its own source."""
import subprocess

import pytest

from conftest import ROOT, load_json
from tracefile import Trace

SOURCE = ROOT / "tests/programs/symbol_stack.c"


def line_of(mark):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if f"/* in {mark} */" in line]
    return number


@pytest.fixture
def stack(program):
    """(module row, return addresses in it innermost first) of one run of the program."""
    output = subprocess.run([program("symbol_stack")], capture_output=True, text=True, check=True).stdout
    if "nothing is inlined" in output:
        pytest.skip("the test programs are built without optimization")
    words = [line.split() for line in output.splitlines()]
    ((_, path, build_id, *addresses),) = [row for row in words if row[0] == "module"]
    load, start, end = map(int, addresses)
    frames = [int(row[1]) for row in words if row[0] == "frame"]
    # A sanitizer's backtrace() has a frame of its own in front.
    return [1, path, build_id, load, start, end], [a for a in frames if start <= a < end]


def frames(tmp_path, module, addresses):
    trace = Trace(tmp_path / "trace.db")
    trace.rows["module"].append(tuple(module))
    trace.alloc(1, stack=trace.stack(*addresses))
    (device,) = load_json("peak", trace.write())["devices"]
    return device["sites"][0]["frames"]


def test_a_return_address_has_the_function_file_and_line_of_its_call(tmp_path, stack):
    result = frames(tmp_path, *stack)
    named = [
        (frame["kind"], frame["function"], frame["file"].rsplit("/", 1)[-1], frame["line"])
        for frame in result[:4]
    ]
    assert named == [
        ("native", "take_stack", "symbol_stack.c", line_of("take_stack")),
        ("inlined", "inlined_layer", "symbol_stack.c", line_of("inlined_layer")),
        ("native", "outer_layer", "symbol_stack.c", line_of("outer_layer")),
        ("native", "main", "symbol_stack.c", line_of("main")),
    ]


def test_another_build_of_the_file_is_not_asked_for_names(tmp_path, stack):
    module, addresses = stack
    module[2] = "00" * 20
    result = frames(tmp_path, module, addresses[:1])
    offset = addresses[0] - module[3]
    assert [(f["kind"], f["function"], f["file"], f["line"]) for f in result] == [
        ("native", f"symbol_stack+{offset:#x}", None, None)
    ]


def test_a_file_that_is_no_elf_gives_module_and_offset(tmp_path, stack):
    module, addresses = stack
    module[1], module[2] = str(SOURCE), None
    (frame,) = frames(tmp_path, module, addresses[:1])
    assert frame["function"].startswith("symbol_stack.c+0x")
