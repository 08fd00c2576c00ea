# SPDX-License-Identifier: MIT
"""`resolve` writes names into a trace, so that it can be read without the program's files."""
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import pytest

from support.run import BUILD, TIMEOUT_S, compile_library, load_json, run_command, simulator_environment
from support.printed_stack import PrintedStack, frames_of, functions_of
from support.tracefile import Trace


@pytest.fixture
def stack(tmp_path, program):
    """Returns the stack of a copy of the program. A test may delete the copy."""
    copy = tmp_path / "train"
    shutil.copy(program("symbol_stack"), copy)
    return PrintedStack(copy)


@pytest.fixture
def trace(tmp_path, stack):
    return stack.write(tmp_path / "trace.db", stack.own_addresses())


def remove(stack):
    (path,) = [module[1] for module in stack.modules[:1]]
    subprocess.run(["rm", path], check=True)


def resolve(*arguments):
    return load_json("resolve", *arguments)


def rows(trace, query):
    with sqlite3.connect(trace) as database:
        return database.execute(query).fetchall()


def strip(stack, *options):
    """Replaces the copy by the same build of the program without debug information."""
    path = stack.own[1]
    subprocess.run(["objcopy", *options, path, path + ".new"], check=True)
    subprocess.run(["mv", path + ".new", path], check=True)


def test_a_resolved_trace_shows_the_same_stack_without_the_programs_files(trace, stack):
    before = frames_of(trace)
    assert "outer_layer" in [frame["function"] for frame in before]
    assert any(frame["kind"] == "inlined" for frame in before)
    resolve(trace)
    remove(stack)
    assert frames_of(trace) == before
    assert load_json("peak", trace)["warnings"] == []


def test_what_a_signal_interrupted_is_named_right_in_a_resolved_trace(tmp_path, program):
    copy = tmp_path / "train"
    shutil.copy(program("symbol_signal"), copy)
    trace = PrintedStack(copy).write(tmp_path / "trace.db")
    before = functions_of(trace)
    resolve(trace)
    copy.unlink()
    assert functions_of(trace)[:4] == ["handler", "(signal handler)", "fault", "call_fault"]
    assert functions_of(trace)[:4] == before[:4]


def test_it_says_how_many_places_are_named_and_how_well(tmp_path, trace, stack):
    hidden = len(stack.own_addresses())
    strip(stack, "--strip-debug")
    result = resolve(trace)
    assert result["names"] == {"places": hidden, "with_line": 0, "with_function": hidden, "without_name": 0}
    (module,) = result["modules"]
    assert (module["module"], module["file"], module["places"]) == (stack.own[1], "found", hidden)
    assert result["answer"] == [f"All {hidden} native frames have a name, 0 of them a line, too; the trace stores the names."]


def test_places_in_missing_files_and_in_none_are_counted_as_module_and_offset(tmp_path, stack):
    trace = stack.write(tmp_path / "trace.db", [stack.addresses[0], 0x5000])
    remove(stack)
    result = resolve(trace)
    assert result["names"] == {"places": 2, "with_line": 0, "with_function": 0, "without_name": 2}
    assert [(m["places"], m["file"]) for m in result["modules"]] == [(1, "missing")]
    assert result["answer"] == [f"2 of 2 native frames have no name, most of them in {pathlib.Path(stack.own[1]).name} (missing).",
                                "--debug-dir=DIR names a folder that has its file."]  # fmt: skip


def test_resolving_again_changes_nothing(trace):
    resolve(trace)
    query = "SELECT * FROM symbol ORDER BY address, level"
    before, strings = rows(trace, query), rows(trace, "SELECT * FROM string ORDER BY string_id")
    assert before
    resolve(trace)
    assert rows(trace, query) == before
    assert rows(trace, "SELECT * FROM string ORDER BY string_id") == strings


def test_resolving_where_the_files_are_missing_keeps_the_names(trace, stack):
    resolve(trace)
    before = frames_of(trace)
    remove(stack)
    assert resolve(trace)["names"]["without_name"] == 0
    assert frames_of(trace) == before


def test_resolving_with_debug_information_adds_lines_to_functions(tmp_path, trace, stack):
    (tmp_path / "files").mkdir()
    shutil.copy(stack.own[1], tmp_path / "files")
    strip(stack, "--strip-debug")
    resolve(trace)
    assert all(frame["line"] is None for frame in frames_of(trace))
    resolve(f"--debug-dir={tmp_path / 'files'}", trace)
    assert any(frame["line"] for frame in frames_of(trace))


def test_resolving_without_debug_information_keeps_the_lines(trace, stack):
    resolve(trace)
    before = frames_of(trace)
    strip(stack, "--strip-debug")
    assert resolve(trace)["names"]["with_line"] > 0
    assert frames_of(trace) == before


def test_several_traces_are_resolved_at_once(tmp_path, stack):
    traces = [stack.write(tmp_path / name) for name in ("a.db", "b.db")]
    result = load_json("resolve", *traces)
    assert [row["names"]["places"] > 0 for row in result["traces"]] == [True, True]
    assert all(rows(trace, "SELECT * FROM symbol") for trace in traces)


def test_names_are_found_by_hand_through_a_view(record, program):
    recording = record(program("phases"))
    query = "SELECT function, file, line FROM named_frames WHERE kind = 'native' AND function = 'main'"
    assert recording.rows(query) == []
    resolve(recording.trace)
    ((function, file, line), *_) = recording.rows(query)
    assert (function, file.rsplit("/", 1)[-1]) == ("main", "phases.c") and line > 0


def test_the_trace_of_a_killed_process_is_resolved_too(record, program):
    recording = record(program("process_end"), "signal", check=False)
    assert recording.trace.with_name("trace.db-ring.0").exists()
    assert resolve(recording.trace)["names"]["with_line"] > 0
    assert rows(recording.trace, "SELECT count(*) FROM symbol") != [(0,)]
    assert recording.report()["devices"][0]["driver"]["allocations"] == 3


def test_a_trace_that_is_still_being_recorded_is_refused(tmp_path):
    code = ("import ctypes; cuda = ctypes.CDLL('libcudart.so.13'); block = ctypes.c_void_p();"
            "assert cuda.cudaMalloc(ctypes.byref(block), 1) == 0; print('ready', flush=True); input()")
    trace = tmp_path / "trace.db"
    environment = simulator_environment(LD_PRELOAD=BUILD / "libgpumemtrace.so", GPUMEMTRACE_OUTPUT=trace)
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        completed = run_command("resolve", trace)
        process.communicate(b"\n", timeout=TIMEOUT_S)
    assert completed.returncode == 2
    assert "still being recorded; resolve it when the program has ended" in completed.stderr


def test_a_kill_while_names_are_written_leaves_the_trace_as_it_was(tmp_path, trace):
    before = frames_of(trace)
    killed = tmp_path / "killed.db"
    with sqlite3.connect(trace, isolation_level=None) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        database.execute("DELETE FROM event")
        database.executemany("INSERT INTO string VALUES (?, ?)", [(n, "x" * 4000) for n in range(1000, 1100)])
        shutil.copy(trace, killed)  # this copy contains half of the transaction
        shutil.copy(f"{trace}-journal", f"{killed}-journal")  # this journal undoes that half
        database.execute("ROLLBACK")
    assert frames_of(killed) == before


def test_stored_names_of_a_frame_outside_every_module_are_shown(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.name(0x5000, ("jit.py", 7, "kernel"))
    trace.alloc(1, stack=trace.stack(0x5000))
    (frame,) = frames_of(trace.write())
    assert (frame["function"], frame["file"], frame["line"]) == ("kernel", "jit.py", 7)


def test_names_in_the_trace_go_before_the_files_on_this_machine(trace, stack):
    with sqlite3.connect(trace) as database:
        database.execute("INSERT INTO string VALUES (900, 'renamed')")
        database.execute("INSERT INTO symbol VALUES (?, 0, 900, 0, 0)", [stack.addresses[0]])
    assert functions_of(trace)[0] == "renamed"


def test_a_name_longer_than_a_trace_may_hold_is_stored_cut(tmp_path):
    library = compile_library(tmp_path / "long.so", f"void {'f' * 5000}(void) {{}}")
    symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    (offset,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith("f" * 5000)]
    trace = Trace(tmp_path / "trace.db")
    trace.rows["module"].append((1, str(library), None, 0x100000, 0x100000, 0x200000))
    trace.alloc(1, stack=trace.stack(0x100000 + offset + 1))
    resolve(trace.write())
    assert max(text for (text,) in rows(trace.path, "SELECT length(text) FROM string")) == 4096
    assert functions_of(trace.path) == ["f" * 4096]
    assert load_json("peak", trace.path)["warnings"] == []
