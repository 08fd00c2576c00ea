# SPDX-License-Identifier: MIT
"""Every command in every format, to stdout and to a file. The output must be well-formed, have the same content in both
places, and never be written in part."""
import csv
import io
import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from support.cells import each
from support.run import BUILD, clean_environment, run_command
from support.tracefile import MIB, Trace

COMMANDS = {
    "report": "sites_at_peak",
    "peak": "sites",
    "timeline": "timeline",
    "frag": "over_time",
    "phases": "phases",
    "leaks": "live_at_exit",
    "oom": "oom",
    "check": "checks",
    "info": "events_by_kind",
    "steps": "steps",
    "ledger": "terms",
    "fit": "fit",
}


def options_of(command):
    return ["--max-peak=1GiB", "--allow-oom"] if command == "check" else []


@pytest.fixture
def traces(tmp_path):
    """Makes two traces. They have a name that CSV must quote, and a stack with bytes that would control a terminal."""
    paths = []
    for name in ("one, first.db", "two.db"):
        trace = Trace(tmp_path / name)
        stack = trace.stack("cudaMalloc", ("evil\x1b[31m\nname.py", 3, 'say "hi"'))
        for device in (0, 1):
            trace.device(device, name=f"card {device}", total_bytes=1024 * MIB)
            with trace.phase("forward"):
                trace.alloc(100 * MIB, device=device, stack=stack)
                trace.free(trace.alloc(7 * MIB, device=device, stack=stack))
            trace.fail(4096 * MIB, device=device, stack=stack)
        trace.step(1)
        trace.step(2)
        trace.exit()
        trace.write()
        paths.append(trace.path)
    return paths


def find_list(document, key):
    """Returns the rows of all lists with this key, at any depth."""
    if isinstance(document, list):
        return [row for element in document for row in find_list(element, key)]
    if not isinstance(document, dict):
        return []
    found = []
    for name, value in document.items():
        found += value if name == key and isinstance(value, list) else find_list(value, key)
    return found


@each("command, count", product(COMMANDS, [1, 2]))
def test_json_is_well_formed_and_names_its_schema(traces, command, count):
    completed = run_command(command, *traces[:count], *options_of(command), "--json")
    assert completed.returncode == 0, completed.stderr
    schema = f"gpumemtrace.{command}/1" if count == 1 else "gpumemtrace.reports/1"
    assert json.loads(completed.stdout)["schema"] == schema


@each("command, count", product(COMMANDS, [1, 2]))
def test_csv_has_the_rows_of_the_commands_list_in_equal_columns(traces, command, count):
    arguments = [command, *traces[:count], *options_of(command)]
    completed = run_command(*arguments, "--format=csv")
    assert completed.returncode == 0, completed.stderr
    header, *rows = csv.reader(io.StringIO(completed.stdout, newline=""))
    listed = find_list(json.loads(run_command(*arguments, "--json").stdout), COMMANDS[command])
    assert len(rows) == len(listed) > 0
    assert len(set(header)) == len(header)
    assert {len(row) for row in rows} == {len(header)}
    for row, expected in zip(rows, listed):
        for key, value in expected.items():
            if isinstance(value, int) and not isinstance(value, bool):
                assert row[header.index(key)] == str(value)


@each("command", COMMANDS)
def test_csv_of_a_trace_without_rows_has_the_same_head(traces, tmp_path, command):
    path = Trace(tmp_path / f"{command}.db").write()
    words = [*options_of(command), "--format=csv"]
    empty = run_command(command, path, *words).stdout
    assert empty == run_command(command, traces[0], *words).stdout.splitlines()[0] + "\n"
    if command == "check":  # the list of `check` stands beside the traces, and each row names its trace
        return
    both = run_command(command, path, path, *words).stdout
    assert both == run_command(command, *traces, *words).stdout.splitlines()[0] + "\n"


@each("command", COMMANDS)
def test_every_command_opens_with_an_answer_also_where_there_is_nothing(traces, tmp_path, command):
    for path in (traces[0], Trace(tmp_path / f"{command}.db").write()):
        completed = run_command(command, path, *options_of(command), "--json")
        assert json.loads(completed.stdout)["answer"], path


def test_a_list_in_a_cell_of_csv_is_json(traces):
    rows = list(csv.DictReader(io.StringIO(run_command("peak", traces[0], "--format=csv").stdout, newline="")))
    sites = find_list(json.loads(run_command("peak", traces[0], "--json").stdout), "sites")
    assert [json.loads(row["frames"]) for row in rows] == [site["frames"] for site in sites]
    assert any("evil\x1b[31m\nname.py" in frame["file"] for site in sites for frame in site["frames"] if frame["file"])


def test_csv_of_several_traces_is_led_by_their_paths(traces):
    completed = run_command("peak", *traces, "--format=csv")
    rows = list(csv.DictReader(io.StringIO(completed.stdout, newline="")))
    # One call stack has two rows on each device, because its blocks are of two categories.
    assert [(row["path"], row["device"]) for row in rows] == [
        (str(path), device) for path in traces for device in "0011"
    ]


@each("command", COMMANDS)
def test_text_is_clean_for_a_terminal(traces, command):
    completed = run_command(command, *traces, *options_of(command))
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.strip()
    assert "\x1b" not in completed.stdout
    for line in completed.stdout.splitlines():
        assert line == line.rstrip()


@pytest.mark.parametrize("name", ["text", "csv"])
def test_names_of_the_program_can_neither_control_a_terminal_nor_calculate(tmp_path, name):
    trace = Trace(tmp_path / "trace.db")
    for phase in ("=1+1", "\x1b[31m", "\u202etac", "\ufeffa", "+1", "-1", "@a"):
        with trace.phase(phase):
            trace.alloc(MIB)
    trace.exit()
    trace.write()
    printed = run_command("phases", trace.path, f"--format={name}").stdout
    assert not set("\x1b\u202e\ufeff") & set(printed)
    assert "\\u{202e}tac" in printed and "\\u{feff}a" in printed and "?[31m" in printed
    if name == "csv":
        cells = [cell for row in csv.reader(io.StringIO(printed, newline="")) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
        assert {"'=1+1", "'+1", "'-1", "'@a"} <= set(cells)


@each("command", COMMANDS)
def test_junit_is_for_check_only(traces, command):
    completed = run_command(command, traces[0], *options_of(command), "--format=junit")
    if command == "check":
        suite = ElementTree.fromstring(completed.stdout)
        assert suite.get("tests") == str(len(suite.findall("testcase"))) != "0"
        return
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert len(completed.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["text", "json", "csv"])
def test_a_file_gets_the_same_as_stdout(traces, tmp_path, name):
    output = tmp_path / "result"
    to_file = run_command("peak", traces[0], f"--format={name}", "-o", output)
    assert (to_file.returncode, to_file.stdout, to_file.stderr) == (0, "", "")
    to_stdout = subprocess.run(
        [BUILD / "gpumemtrace", "peak", traces[0], f"--format={name}"],
        env=clean_environment(),
        capture_output=True,
        check=True,
    )
    assert output.read_bytes() == to_stdout.stdout


def test_the_trace_itself_is_refused_as_output(traces, tmp_path):
    link = tmp_path / "link"
    os.symlink(traces[0], link)
    before = traces[0].read_bytes()
    completed = run_command("peak", traces[0], "-o", link)
    assert completed.returncode == 2
    assert "is also the input" in completed.stderr
    assert traces[0].read_bytes() == before


def test_an_output_that_cannot_be_made_is_named(traces):
    completed = run_command("peak", traces[0], "-o", "/no/such/folder/x.json")
    assert completed.returncode == 2
    assert "'/no/such/folder/x.json'" in completed.stderr
    assert "No such file or directory" in completed.stderr


@pytest.mark.parametrize("name", ["text", "json", "csv"])
def test_a_full_disk_is_an_error_in_every_format(traces, name):
    completed = run_command("peak", traces[0], f"--format={name}", "-o", "/dev/full")
    assert completed.returncode == 2
    assert "No space left on device" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
