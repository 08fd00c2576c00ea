# SPDX-License-Identifier: MIT
"""Files that are no trace, or a broken one: one line that names the file, exit 2, no output."""
import random
import sqlite3
import subprocess

import pytest

from support.run import BUILD, run_command
from support.tracefile import Trace

COMMANDS = "report peak timeline frag phases leaks oom info".split()


def assert_refused(path, *parts, command="report"):
    completed = run_command(command, path)
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout == ""
    assert len(completed.stderr.splitlines()) == 1, completed.stderr
    for part in (str(path), *parts):
        assert part in completed.stderr


@pytest.fixture
def path(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.rows["module"].append((1, "/bin/x", None, 0, 0, 1))
    for _ in range(300):
        trace.free(trace.alloc(1, stack=trace.stack("a", ("f.py", 1, "g"))))
    return trace.write()


def change(path, statement):
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA ignore_check_constraints = 1")
        database.execute(statement)
    database.close()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_file_is_refused_by_every_command(tmp_path, command):
    assert_refused(tmp_path / "missing.db", command=command)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "empty.db").touch()
    assert_refused(tmp_path / "empty.db")


def test_a_directory_is_refused(tmp_path):
    assert_refused(tmp_path)


def test_a_text_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("this is no trace\n" * 100)
    assert_refused(tmp_path / "notes.txt")


def test_another_programs_database_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY)")
    database.close()
    assert_refused(tmp_path / "other.db")


def test_a_trace_of_a_newer_format_is_refused(path):
    change(path, "PRAGMA user_version = 3")
    assert_refused(path)


@pytest.mark.parametrize("table", ["event", "frame", "meta", "device", "string", "coverage", "module"])
def test_a_missing_table_is_named(path, table):
    change(path, f"DROP TABLE {table}")
    assert_refused(path, table)


def test_a_missing_column_is_named(path):
    change(path, "ALTER TABLE event RENAME COLUMN stream TO current")
    assert_refused(path, "stream")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert_refused(path)


@pytest.mark.parametrize(
    "assignment, column",
    [
        ("kind = 99", "kind"), ("kind = 0", "kind"), ("kind = -1", "kind"), ("memory = 77", "memory"),
        ("size_bytes = -5", "size_bytes"), ("time_ns = -1", "time_ns"), ("device = 1000", "device"),
        ("thread_id = -1", "thread_id"), ("size_bytes = 'many'", "size_bytes"),
        ("address = 1.5", "address"), ("result = 5000000000", "result"), ("stack_id = -3", "stack_id"),
        ("call_id = 70000", "call_id"), ("seq = -7", "seq"),
    ],
)  # fmt: skip
def test_a_broken_event_is_named_by_table_row_and_column(path, assignment, column):
    change(path, f"UPDATE event SET {assignment} WHERE seq = 42")
    row = "-7" if column == "seq" else "42"
    assert_refused(path, "table event", "row", column)
    if column != "seq":
        assert_refused(path, f"row {row}")


@pytest.mark.parametrize(
    "statement, table",
    [
        ("UPDATE frame SET kind = 9 WHERE frame_id = 2", "frame"),
        ("UPDATE frame SET frame_id = 4000000000 WHERE frame_id = 2", "frame"),
        ("UPDATE string SET string_id = -1 WHERE string_id = 1", "string"),
        ("UPDATE module SET load_address = 'x'", "module"),
        ("INSERT INTO device VALUES (5000, NULL, NULL, NULL, NULL)", "device"),
        ("INSERT INTO device VALUES (1, NULL, NULL, -4, NULL)", "device"),
        ("UPDATE meta SET value = 'soon' WHERE key = 'complete'", "meta"),
    ],
)
def test_a_broken_row_of_another_table_is_named(path, statement, table):
    change(path, statement)
    assert_refused(path, f"table {table}, row")


def test_a_later_recorders_additions_are_ignored(path):
    change(path, "ALTER TABLE event ADD COLUMN colour TEXT")
    change(path, "CREATE TABLE extra (x)")
    change(path, "INSERT INTO meta VALUES ('weather', 'fine')")
    assert run_command("report", path).returncode == 0


def test_one_broken_trace_among_several_is_refused_before_anything_is_printed(path, tmp_path):
    (tmp_path / "broken.db").write_text("x")
    completed = run_command("report", path, tmp_path / "broken.db")
    assert completed.returncode == 2
    assert completed.stdout == ""


def test_damaged_bytes_never_crash_a_command(path):
    """Whatever a flipped byte does, the command ends by itself: a report or a refusal."""
    whole, chance = path.read_bytes(), random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(100, len(data))] = chance.randrange(256)
        path.write_bytes(data)
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "report", path, "--json"], capture_output=True, timeout=60
        )
        assert completed.returncode in (0, 2), completed
        assert (completed.returncode == 0) == (completed.stderr == b"")
