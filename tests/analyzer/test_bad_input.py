# SPDX-License-Identifier: MIT
"""Files that are not traces, and broken traces. Each command prints one line that names the file, exits with 2 and
writes no output."""
import os
import random
import socket
import sqlite3
import subprocess

import pytest

from support.run import BUILD, TIMEOUT_S, load_json, run_command
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


@pytest.mark.parametrize("what", ["a pipe", "a socket", "a device"])
def test_what_is_no_regular_file_is_not_even_opened(tmp_path, what):
    path = tmp_path / "special.db"
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        path.symlink_to("/dev/zero")
    assert_refused(path, what)


@pytest.mark.parametrize("name", ["file:trace.db?mode=memory", ":memory:"])
def test_a_name_that_sqlite_takes_for_something_else_is_that_of_a_file(path, name):
    path.rename(path.with_name(name))
    completed = run_command("info", "--json", name, cwd=path.parent)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_a_text_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("this is no trace\n" * 100)
    assert_refused(tmp_path / "notes.txt")


def test_another_programs_database_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY)")
    database.close()
    assert_refused(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (3, "newer than 2: read it with a newer gpumemtrace"),
        (1, "older than 2: no release wrote it; record the program again"),
    ],
)
def test_a_trace_of_another_format_is_refused_with_what_to_do(path, number, words):
    change(path, f"PRAGMA user_version = {number}")
    assert_refused(path, f"has trace format {number}, {words}")


@pytest.mark.parametrize("table", ["event", "frame", "meta", "device", "string", "coverage", "module", "symbol"])
def test_a_missing_table_is_named(path, table):
    change(path, f"DROP TABLE {table}")
    assert_refused(path, table)


def test_a_missing_column_is_named(path):
    change(path, "ALTER TABLE event RENAME COLUMN stream TO current")
    assert_refused(path, "stream")


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
NINE = ", 1 + 0 * x".join(["SELECT x", *[""] * 14])


@pytest.mark.parametrize("command", [*COMMANDS, "resolve"])
def test_a_view_in_place_of_a_table_is_refused_by_every_command(path, command):
    change(path, "DROP TABLE event")
    change(path, f"CREATE VIEW event AS {ENDLESS} {NINE} FROM c")
    assert_refused(path, "event", command=command)


def test_a_virtual_table_in_place_of_a_table_is_refused(path):
    change(path, "DROP TABLE coverage")
    change(path, "CREATE VIRTUAL TABLE coverage USING fts4(name, count)")
    assert_refused(path)


def test_a_computed_column_is_refused(path):
    change(path, "DROP TABLE coverage")
    change(path, "CREATE TABLE coverage (name TEXT PRIMARY KEY, count AS (hex(zeroblob(100000))))")
    change(path, "INSERT INTO coverage (name) VALUES ('x')")
    assert_refused(path, "coverage", "computed")


def test_a_trigger_does_not_run_when_names_are_written(path):
    change(path, "CREATE TRIGGER t AFTER DELETE ON symbol BEGIN DELETE FROM event; END")
    change(path, "INSERT INTO symbol VALUES (1, 0, 1, 1, 1)")
    assert run_command("resolve", path).returncode == 0
    assert load_json("info", path)["trace"]["events"] == 600


@pytest.mark.parametrize("table", ["event", "string", "coverage"])
def test_a_net_of_pages_in_which_each_row_is_met_a_million_times_is_refused(path, table):
    """Each inner page of a four-level B-tree points many times to the same page one level below."""
    columns = "seq, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, NULL, 0, 0, 0" if table == "event" else "seq, 'x'"
    change(path, f"INSERT OR REPLACE INTO {table} SELECT {columns} FROM (SELECT x AS seq FROM "
                 f"({ENDLESS} SELECT x FROM c LIMIT 1500))")
    data, (root, page_bytes) = bytearray(path.read_bytes()), root_page(path, table)
    pages = [0] * 3
    for level in range(3):
        pages[level] = len(data) // page_bytes
        data += bytes(page_bytes)
    start = (root - 1) * page_bytes
    assert data[start] == 5  # an inner page of a table's B-tree
    leaf = int.from_bytes(data[start + 8 : start + 12], "big")
    for page, below in zip([root - 1, *pages], [*(page + 1 for page in pages), leaf]):
        write_inner_page(data, page * page_bytes, page_bytes, below)
    data[28:32] = (len(data) // page_bytes).to_bytes(4, "big")
    path.write_bytes(data)
    assert_refused(path)


def root_page(path, table):
    with sqlite3.connect(path) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (page_bytes,) = database.execute("PRAGMA page_size").fetchone()
    return root, page_bytes


def write_inner_page(data, start, page_bytes, below):
    """Turns the page into an inner page. Each of its cells holds a page number and a key, as "B-tree Pages" in
    https://sqlite.org/fileformat2.html describes."""
    count = (page_bytes - 12) // 7
    content = page_bytes - 5 * count
    header = bytes([5]) + bytes(2) + count.to_bytes(2, "big") + content.to_bytes(2, "big") + bytes(1)
    header += below.to_bytes(4, "big")
    cells = b"".join((below.to_bytes(4, "big") + b"\x7f") for _ in range(count))
    offsets = b"".join((content + 5 * n).to_bytes(2, "big") for n in range(count))
    page = header + offsets
    data[start : start + page_bytes] = page + bytes(content - len(page)) + cells


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert_refused(path)


@pytest.mark.parametrize(
    "assignment, column",
    [
        ("kind = 99", "kind"), ("kind = 0", "kind"), ("kind = -1", "kind"), ("memory = 77", "memory"),
        ("size_bytes = -5", "size_bytes"), ("time_ns = -1", "time_ns"), ("device = 1000", "device"), ("device = -5", "device"),
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


@pytest.mark.parametrize("table, row", [
    ("walk", "(1, NULL, 'end', 1, NULL)"),
    ("walk", "(1, -1, 'end', 1, NULL)"),
    ("holder", "(1, 'x', 1, 'list', 1, NULL, NULL, NULL)"),
    ("holder", "(1, 1, 1, 'list', -1, NULL, NULL, NULL)"),
    ("holder", "(1, 1, 1, 'list', 1, NULL, -1, NULL)"),
    ("holder", "(1, 1, 1, 'list', 1, NULL, NULL, 9999999999)"),
])  # fmt: skip
def test_a_broken_row_of_a_walk_is_refused(path, table, row):
    change(path, f"CREATE TABLE loose AS SELECT * FROM {table}")
    change(path, f"DROP TABLE {table}")
    change(path, f"ALTER TABLE loose RENAME TO {table}")
    change(path, f"INSERT INTO {table} VALUES {row}")
    assert_refused(path, f"table {table}, row 1")


def test_a_trace_that_is_older_than_walks_is_read(path):
    change(path, "DROP TABLE walk")
    change(path, "DROP TABLE holder")
    assert run_command("report", path).returncode == 0


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


def test_bytes_of_a_file_in_a_message_are_shown_as_what_they_are(path):
    """If SQLite cannot parse a CREATE statement, its message quotes bytes of the file."""
    quoted = b"CRE\xe2\x80\xae\xff\x9bTABLE hoo"
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE hook", quoted))
    said = subprocess.run([BUILD / "gpumemtrace", "report", path], capture_output=True, timeout=TIMEOUT_S).stderr.decode()
    assert '"CRE\\u{202e}\ufffd\ufffdTABLE"' in said, said


def test_damaged_bytes_never_crash_a_command(path):
    """One byte of the file is flipped. The command must exit by itself, with a report or with a refusal."""
    whole, chance = path.read_bytes(), random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(100, len(data))] = chance.randrange(256)
        path.write_bytes(data)
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "report", path, "--json"], capture_output=True, timeout=TIMEOUT_S
        )
        assert completed.returncode in (0, 2), completed
        assert (completed.returncode == 0) == (completed.stderr == b"")
