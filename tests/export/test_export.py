# SPDX-License-Identifier: MIT
"""Tests the command `export`: its formats, the input that it refuses, and the place of its output."""
import os
import pty
import re
import subprocess

import pytest

from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, run_command

ROWS = re.findall(r'^EXPORT\("([\w-]+)",\s*\w+,\s*(NULL|"\w+"),\s*(true|false)', (ROOT / "analyzer/export/formats.def").read_text(), re.M)
FORMATS = [name for name, _, _ in ROWS]


def assert_one_line(completed, *parts):
    assert (completed.returncode, completed.stdout) == (2, "") and completed.stderr.count("\n") == 1, completed.stderr
    assert all(part in completed.stderr for part in parts), completed.stderr


def test_help_lists_every_format_with_what_opens_it():
    page = " ".join(run_command("help", "export").stdout.split())
    assert len(FORMATS) >= 3 and f"--to={'|'.join(FORMATS)}" in page
    assert [name for name in FORMATS if f" {name}: " not in page] == []


def test_the_manuals_page_has_a_row_for_every_format():
    rows = re.findall(r"^\| (`[\w-]+`(?:, `[\w-]+`)*) \|", (ROOT / "doc/exports.md").read_text(), re.M)
    assert re.findall(r"[\w-]+", " ".join(rows)) == FORMATS


def test_a_format_must_be_named(made_trace):
    assert_one_line(run_command("export", made_trace), "export needs --to=", FORMATS[0])


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_on_stdout_is_the_same_as_in_a_file(made_trace, export, name):
    printed = subprocess.run([BUILD / "gpumemtrace", "export", f"--to={name}", made_trace, "--device=0"], env=clean_environment(),
                             capture_output=True, check=True, timeout=TIMEOUT_S)  # fmt: skip
    assert printed.stdout == export(name, made_trace, "--device=0").read_bytes() != b""


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_is_one_line(made_trace, name):
    assert_one_line(run_command("export", f"--to={name}", "-o", "/dev/full", made_trace, "--device=0"), "No space left on device")


def test_the_trace_is_not_replaced_by_its_export(made_trace):
    before = made_trace.read_bytes()
    assert_one_line(run_command("export", "--to=collapsed", "-o", made_trace, made_trace), "is also the input")
    assert made_trace.read_bytes() == before


@pytest.mark.parametrize("name", [name for name, _, binary in ROWS if binary == "true"])
def test_what_is_no_text_is_not_written_to_a_terminal(made_trace, name):
    leader, terminal = pty.openpty()
    ended = subprocess.run([BUILD / "gpumemtrace", "export", f"--to={name}", made_trace], env=clean_environment(),
                           stdout=terminal, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)  # fmt: skip
    os.close(terminal)
    os.close(leader)
    assert ended.returncode == 2 and f"--to={name} is binary, which a terminal cannot show; name a file with -o" in ended.stderr


@pytest.mark.parametrize("name", [name for name, at, _ in ROWS if at != "NULL"])
def test_a_moment_that_is_not_there_is_refused(made_trace, name):
    assert_one_line(run_command("export", f"--to={name}", "--at=oom:9", made_trace), "--at=oom:9", "1 allocation failed")


@pytest.mark.parametrize("name", FORMATS)
def test_a_device_that_is_not_there_is_refused(made_trace, name):
    assert_one_line(run_command("export", f"--to={name}", "--device=5", made_trace), "device 5 has no events; those with events: 0, 1")


@pytest.mark.parametrize("name", [name for name, at, _ in ROWS if at == "NULL"])
def test_a_format_of_all_events_has_no_moment(made_trace, name):
    assert_one_line(run_command("export", f"--to={name}", "--at=end", made_trace), f"--at: {name} has all events and no moment")


def test_a_failing_export_leaves_the_file_that_stood_there(made_trace, tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("mine")
    kept.chmod(0o640)
    names = sorted(tmp_path.iterdir())
    completed = run_command("export", "--to=massif", "-o", kept, made_trace)
    assert (completed.returncode, completed.stderr.count("\n"), kept.read_text()) == (2, 1, "mine") and sorted(tmp_path.iterdir()) == names
    assert run_command("export", "--to=massif", "--device=0", "-o", kept, made_trace).returncode == 0
    assert kept.read_text().startswith("desc:") and kept.stat().st_mode & 0o777 == 0o640 and sorted(tmp_path.iterdir()) == names
