# SPDX-License-Identifier: MIT
"""Names of frames when the recorded files are no longer at their place. The names are found by build-id or reported as
missing."""
import contextlib
import ctypes.util
import http.server
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import threading

import pytest

from support.run import BUILD, ROOT, clean_environment, load_json, run_command
from support.printed_stack import PrintedStack, frames_of

LINE = next(
    number
    for number, line in enumerate((ROOT / "tests/programs/stack/symbol_stack.c").read_text().splitlines(), 1)
    if "/* in outer_layer */" in line
)


@pytest.fixture
def stack(program):
    return PrintedStack(program("symbol_stack"))


def objcopy(*arguments):
    subprocess.run(["objcopy", *map(str, arguments)], check=True)


def copy_without_debug(stack, path):
    """Writes a stripped copy of the program to `path`, and its debug information to a second file. Returns the path of
    the second file."""
    debug = path.with_suffix(".debug")
    objcopy("--only-keep-debug", stack.own[1], debug)
    objcopy("--strip-all", stack.own[1], path)
    return debug


def move_away(stack, path="/no/such/place/train"):
    """Changes the path of the module, as if the trace were read on another machine."""
    stack.own[1] = str(path)
    return stack


def build_id_path(folder, stack, suffix=""):
    path = folder / ".build-id" / stack.own[2][:2] / (stack.own[2][2:] + suffix)
    path.parent.mkdir(parents=True)
    return path


def is_named(trace, *options):
    """True if the frame outer_layer has its name, file and line."""
    return ("outer_layer", LINE) in [(f["function"], f["line"]) for f in frames_of(trace, *options)]


def test_a_plain_file_below_a_debug_dir_is_found_by_its_build_id(tmp_path, stack):
    folder = tmp_path / "files" / "deep" / "down"
    folder.mkdir(parents=True)
    (folder / "a text").write_text("\x7fELF, not quite")
    shutil.copy(stack.own[1], folder / "renamed")
    trace = move_away(stack).write(tmp_path / "trace.db")
    assert not is_named(trace)
    assert is_named(trace, f"--debug-dir={tmp_path / 'files'}")


@pytest.mark.parametrize("suffix", ["", ".debug"])
def test_a_debug_dir_with_build_id_names_is_looked_into(tmp_path, stack, suffix):
    debug = copy_without_debug(stack, tmp_path / "copy")
    target = build_id_path(tmp_path / "files", stack, suffix)
    shutil.copy(debug if suffix else stack.own[1], target)
    assert is_named(move_away(stack).write(tmp_path / "trace.db"), f"--debug-dir={tmp_path / 'files'}")


def test_a_stripped_file_gets_its_debug_information_from_a_debug_dir(tmp_path, stack):
    (tmp_path / "files").mkdir()
    copy_without_debug(stack, tmp_path / "copy").rename(tmp_path / "files" / "some.debug")
    trace = move_away(stack, tmp_path / "copy").write(tmp_path / "trace.db")
    assert not is_named(trace)
    assert is_named(trace, f"--debug-dir={tmp_path / 'files'}")


def test_the_file_with_debug_information_is_taken_before_those_without(tmp_path, stack):
    (tmp_path / "files").mkdir()
    copy_without_debug(stack, tmp_path / "files" / "m")
    for name in "abcdxyz":
        shutil.copy(tmp_path / "files" / "m", tmp_path / "files" / name)
    assert is_named(move_away(stack).write(tmp_path / "trace.db"), f"--debug-dir={tmp_path / 'files'}")


def test_a_debuglink_beside_a_stripped_file_is_followed(tmp_path, stack):
    debug = copy_without_debug(stack, tmp_path / "copy")
    objcopy(f"--add-gnu-debuglink={debug}", tmp_path / "copy")
    assert is_named(move_away(stack, tmp_path / "copy").write(tmp_path / "trace.db"))


def test_several_debug_dirs_are_looked_into(tmp_path, stack):
    (tmp_path / "empty").mkdir()
    (tmp_path / "files").mkdir()
    shutil.copy(stack.own[1], tmp_path / "files")
    trace = move_away(stack).write(tmp_path / "trace.db")
    assert is_named(trace, f"--debug-dir={tmp_path / 'empty'}", f"--debug-dir={tmp_path / 'files'}")


def test_a_file_of_another_build_is_never_taken_from_a_debug_dir(tmp_path, stack):
    (tmp_path / "files").mkdir()
    shutil.copy(stack.own[1], tmp_path / "files" / "train")
    stack.own[2] = stack.own[2][::-1]
    assert not is_named(move_away(stack).write(tmp_path / "trace.db"), f"--debug-dir={tmp_path / 'files'}")


def test_a_file_under_the_name_of_another_build_is_not_taken(tmp_path, stack, program):
    shutil.copy(program("symbol_signal"), build_id_path(tmp_path / "files", stack, ".debug"))
    trace = move_away(stack).write(tmp_path / "trace.db", stack.addresses[:1])
    (frame,) = frames_of(trace, f"--debug-dir={tmp_path / 'files'}")
    assert frame["function"].startswith("train+0x")


def test_a_debug_dir_that_does_not_exist_is_refused(tmp_path, stack):
    completed = run_command("peak", "--debug-dir=/no/such/dir", stack.write(tmp_path / "trace.db"))
    assert completed.returncode == 2
    assert "--debug-dir: cannot read '/no/such/dir'" in completed.stderr


def test_a_missing_file_is_said_once_with_what_to_do(tmp_path, stack):
    (warning,) = load_json("peak", move_away(stack).write(tmp_path / "trace.db"))["warnings"]
    assert warning.startswith("/no/such/place/train is not on this machine")
    assert "gpumemtrace resolve" in warning and "--debug-dir" in warning


def test_a_replaced_file_is_said_once_with_what_to_do(tmp_path, stack):
    stack.own[2] = "00" * 20
    (warning,) = load_json("peak", stack.write(tmp_path / "trace.db"))["warnings"]
    assert warning.startswith(f"{stack.own[1]} on this machine is not the build that was recorded")
    assert "--debug-dir" in warning


def test_nothing_is_said_about_files_whose_frames_have_names_or_are_not_shown(tmp_path, stack):
    trace = stack.write(tmp_path / "trace.db")
    assert load_json("peak", trace)["warnings"] == []
    trace = move_away(stack).write(tmp_path / "other.db")
    assert load_json("phases", trace)["warnings"] == []


# --- debuginfod ---

needs_debuginfod = pytest.mark.skipif(
    not ctypes.util.find_library("debuginfod"), reason="libdebuginfod is not installed"
)


@contextlib.contextmanager
def served(files):
    """An HTTP server on this machine that serves {path: bytes}. Yields the server's URL and the list of requested
    paths."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = files.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def peak_with_servers(tmp_path, trace, url, *options):
    environment = clean_environment(
        DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=tmp_path / "cache", no_proxy="127.0.0.1"
    )
    completed = run_command("peak", "--json", *options, trace, env=environment)
    assert completed.returncode == 0, completed.stderr
    (device,) = json.loads(completed.stdout)["devices"]
    return [(f["function"], f["line"]) for f in device["sites"][0]["frames"]]


@needs_debuginfod
@pytest.mark.parametrize("what", ["debuginfo", "executable"])
def test_debuginfod_is_asked_for_missing_files_when_the_user_says_so(tmp_path, stack, what):
    body = open(stack.own[1], "rb").read()
    trace = move_away(stack).write(tmp_path / "trace.db")
    with served({f"/buildid/{stack.own[2]}/{what}": body}) as (url, asked):
        assert ("outer_layer", LINE) in peak_with_servers(tmp_path, trace, url, "--debuginfod")
        assert f"/buildid/{stack.own[2]}/{what}" in asked


@needs_debuginfod
def test_debuginfod_is_asked_for_the_debug_information_of_a_stripped_file(tmp_path, stack):
    body = copy_without_debug(stack, tmp_path / "copy").read_bytes()
    (tmp_path / "copy.debug").unlink()
    trace = move_away(stack, tmp_path / "copy").write(tmp_path / "trace.db")
    with served({f"/buildid/{stack.own[2]}/debuginfo": body}) as (url, _):
        assert ("outer_layer", LINE) in peak_with_servers(tmp_path, trace, url, "--debuginfod")


@needs_debuginfod
def test_nothing_is_asked_over_the_network_unless_the_user_says_so(tmp_path, stack):
    copy_without_debug(stack, tmp_path / "copy").unlink()
    for place in ("/no/such/place/train", tmp_path / "copy"):
        trace = move_away(stack, place).write(tmp_path / f"{len(str(place))}.db")
        with served({}) as (url, asked):
            assert ("outer_layer", LINE) not in peak_with_servers(tmp_path, trace, url)
            assert asked == []


@needs_debuginfod
def test_a_build_id_that_is_none_is_no_part_of_a_question(tmp_path, stack):
    """The build-id comes from the trace, which may be hostile. An invalid build-id is therefore not sent to a
    server."""
    stack.own[2] = "../../secret"
    trace = move_away(stack).write(tmp_path / "trace.db", stack.addresses[:1])
    with served({}) as (url, asked):
        peak_with_servers(tmp_path, trace, url, "--debuginfod")
        assert asked == []


def test_debuginfod_without_a_server_is_refused(tmp_path, stack):
    environment = {k: v for k, v in clean_environment().items() if k != "DEBUGINFOD_URLS"}
    completed = run_command("peak", "--debuginfod", stack.write(tmp_path / "trace.db"), env=environment)
    assert completed.returncode == 2
    assert "DEBUGINFOD_URLS names no server" in completed.stderr


# --- names that stay in the trace ---


def symbol_rows(trace):
    with contextlib.closing(sqlite3.connect(trace)) as database:
        return database.execute("SELECT count(*) FROM symbol").fetchone()[0]


def record_sample(folder, *options):
    """Records a copy of the sample training loop and returns (copy, trace). A test may delete the copy."""
    program = shutil.copy(BUILD / "samples/train", folder / "train")
    trace = folder / "train.db"
    run_command("run", "--dry-run", *options, "-o", trace, "--", program)
    return program, trace


# With these options, root has only the rights that file modes give.
NO_MORE_RIGHTS_THAN_MODES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def answers_of(trace, **options):
    """Returns all tables of the commands. The heading and the warnings, which may differ, are left out."""
    answers = [load_json(command, trace, **options) for command in ("report", "peak", "leaks")]
    for answer in answers:
        answer.pop("warnings")
    return answers


def test_a_run_keeps_the_names_for_the_time_when_its_program_is_gone(tmp_path):
    program, trace = record_sample(tmp_path)
    assert symbol_rows(trace) > 0
    before = answers_of(trace)
    pathlib.Path(program).unlink()
    assert answers_of(trace) == before
    assert "train.c" in run_command("report", trace).stdout


def test_the_first_command_keeps_the_names_that_a_run_did_not(tmp_path):
    program, trace = record_sample(tmp_path, "--no-resolve")
    assert symbol_rows(trace) == 0
    before = answers_of(trace)
    assert symbol_rows(trace) > 0
    pathlib.Path(program).unlink()
    assert answers_of(trace) == before


def test_names_that_are_not_all_there_are_not_kept(tmp_path):
    program, trace = record_sample(tmp_path, "--no-resolve")
    pathlib.Path(program).rename(tmp_path / "elsewhere")
    warning = next(text for text in load_json("report", trace)["warnings"] if "train" in text)
    assert "not on this machine" in warning and "category may be 'other'" in warning
    assert symbol_rows(trace) == 0
    (tmp_path / "elsewhere").rename(program)
    run_command("report", trace)
    assert symbol_rows(trace) > 0


def test_every_process_of_a_run_keeps_its_names_and_no_other_run_gets_any(tmp_path):
    other = record_sample(tmp_path, "--no-resolve")[1].rename(tmp_path / "all.old.db")
    program = BUILD / "samples/train"
    run_command("run", "--dry-run", "-o", tmp_path / "all.db", "--", "sh", "-c", f"{program}; {program}")
    assert symbol_rows(tmp_path / "all.db") > 0 and symbol_rows(tmp_path / "all.2.db") > 0
    assert symbol_rows(other) == 0


def test_a_trace_that_may_not_be_written_is_read_all_the_same(tmp_path):
    program, trace = record_sample(tmp_path, "--no-resolve")
    names = answers_of(shutil.copy(trace, tmp_path / "copy.db"))
    trace.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        read = answers_of(trace, before=NO_MORE_RIGHTS_THAN_MODES)
    finally:
        tmp_path.chmod(0o700)
    for answer in (*read, *names):
        answer["trace"].pop("path")
        answer.pop("next", None)
    assert read == names
