# SPDX-License-Identifier: MIT
"""Names of native frames, which are compared with the output of programs that know their own source lines."""
import subprocess

import pytest

from support.run import ROOT
from support.printed_stack import PrintedStack, frames_of, functions_of

SOURCE = ROOT / "tests/programs/stack/symbol_stack.c"


def line_of(mark):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if f"/* in {mark} */" in line]
    return number


@pytest.fixture
def stack(program):
    printed = PrintedStack(program("symbol_stack"))
    if "nothing is inlined" in printed.output:
        pytest.skip("the test programs are built without optimization")
    return printed


def named(frames):
    return [(f["kind"], f["function"], f["file"].rsplit("/", 1)[-1], f["line"]) for f in frames]


NAMED = [
    ("native", "take_stack", "symbol_stack.c", line_of("take_stack")),
    ("inlined", "inlined_layer", "symbol_stack.c", line_of("inlined_layer")),
    ("native", "outer_layer", "symbol_stack.c", line_of("outer_layer")),
    ("native", "main", "symbol_stack.c", line_of("main")),
]


def test_a_return_address_has_the_function_file_and_line_of_its_call(tmp_path, stack):
    assert named(frames_of(stack.write(tmp_path / "trace.db"))[:4]) == NAMED


@pytest.mark.parametrize("ways", [["-gdwarf-4"], ["-gdwarf-5"], ["-gsplit-dwarf"]])
def test_lines_and_inlined_calls_are_found_in_every_layout_of_debug_information(tmp_path, stack, ways):
    """For example, -gsplit-dwarf puts the debug information of functions into another file."""
    copy = tmp_path / "copy"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", *ways, f"-I{ROOT}/include", "-o", copy, SOURCE],
                   check=True, cwd=tmp_path)
    assert named(frames_of(PrintedStack(copy).write(tmp_path / "trace.db"))[:4]) == NAMED


def test_lines_are_found_without_a_table_of_addresses(tmp_path, stack):
    """clang writes no table .debug_aranges."""
    copy = tmp_path / "copy"
    subprocess.run(["objcopy", "--remove-section=.debug_aranges", stack.own[1], copy], check=True)
    assert named(frames_of(PrintedStack(copy).write(tmp_path / "trace.db"))[:4]) == NAMED


def test_another_build_of_the_file_is_not_asked_for_names(tmp_path, stack):
    stack.own[2] = "00" * 20
    address = stack.addresses[0]
    (frame,) = frames_of(stack.write(tmp_path / "trace.db", [address]))
    assert [frame[key] for key in ("kind", "function", "file", "line")] == [
        "native", f"symbol_stack+{address - stack.own[3]:#x}", None, None]


def test_a_file_that_is_no_elf_gives_module_and_offset(tmp_path, stack):
    stack.own[1], stack.own[2] = str(SOURCE), None
    (function,) = functions_of(stack.write(tmp_path / "trace.db", stack.addresses[:1]))
    assert function.startswith("symbol_stack.c+0x")


def test_a_stripped_library_gives_its_exported_functions_by_name(tmp_path, program):
    copy = tmp_path / "copy"
    subprocess.run(["strip", "-o", copy, program("symbol_languages")], check=True)
    stack = PrintedStack(copy)
    functions = functions_of(stack.write(tmp_path / "trace.db", stack.own_addresses()))
    hidden = f"copy+{stack.addresses[3] - stack.own[3]:#x}"
    assert functions == ["train::model::forward", "train::model::backward", "c_name", hidden, *functions[4:]]


def test_a_place_in_no_module_is_shown_as_anonymous_code(tmp_path, stack):
    """The program compiled this code at run time."""
    assert functions_of(stack.write(tmp_path / "trace.db", [0x5000])) == ["[anonymous]+0x5000"]


def test_cxx_and_rust_names_are_demangled_without_parameters(tmp_path, program):
    stack = PrintedStack(program("symbol_languages"))
    functions = functions_of(stack.write(tmp_path / "trace.db", stack.own_addresses()))
    expected = [
        "train::model::forward",
        "train::model::backward",
        "c_name",
        "nn::(anonymous namespace)::Layer::forward",
        "nn::(anonymous namespace)::apply<long>",
        "nn::run()::{lambda}::operator()",
        "nn::run",
        "main",
    ]
    assert [name for name in functions if name in expected] == expected


def test_the_place_a_signal_interrupted_is_not_taken_for_a_call(tmp_path, program):
    stack = PrintedStack(program("symbol_signal"))
    functions = functions_of(stack.write(tmp_path / "trace.db"))
    assert functions[:4] == ["handler", "(signal handler)", "fault", "call_fault"]
