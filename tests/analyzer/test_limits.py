# SPDX-License-Identifier: MIT
"""The memory of a reader. It grows with the distinct content of a file, not with the number of references to that
content."""
import random
import sqlite3

import pytest

from support.long_traces import measured
from support.run import BUILD, PRELOAD_FIRST, load_json, run_command
from support.tracefile import MIB, Trace

sanitized = pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own memory is larger")


def resident_mib(*arguments):
    """Returns the peak resident memory of a command. A small program starts the command, because a child process begins
    with the memory of its parent."""
    return measured(BUILD / "gpumemtrace", *arguments)[2] / MIB


@sanitized
def test_a_live_call_stack_takes_little_memory_in_json(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    outer = [("/home/me/train.py", 100 + depth, f"level{depth}") for depth in range(6)]
    for line in range(15_000):
        trace.alloc(MIB, stack=trace.stack(("/home/me/model.py", line, "Layer.forward"), *outer))
    assert resident_mib("peak", "--json", trace.write()) < 90


@sanitized
def test_a_long_text_is_kept_once_however_many_stacks_show_it(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    name = "x" * 4000
    outer = [(f"{depth}.py", 1, name) for depth in range(6)]
    for line in range(4_000):
        trace.alloc(MIB, stack=trace.stack(("a.py", line, name), *outer))
    assert resident_mib("report", "--json", trace.write()) < 90


# --- limits.def: limits of a file's content ---


def change(path, *statements):
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return path


def one_block(folder, *frames):
    trace = Trace(folder / "trace.db")
    trace.alloc(MIB, stack=trace.stack(*frames) if frames else None)
    return trace.write()


def frames_of(path):
    (device,) = load_json("peak", path)["devices"]
    return device["sites"][0]["frames"]


def test_a_text_beyond_the_limit_is_cut_between_characters_and_counted(tmp_path):
    path = one_block(tmp_path, ("é" * 4096, 1, "f" * 4097), ("g.py", 2, "g" * 4096))
    answer = load_json("report", path)
    assert "2 texts of the file are longer than 4096 bytes and are cut" in answer["warnings"]
    inner, outer = frames_of(path)
    assert (inner["file"], inner["function"], outer["function"]) == ("é" * 2048, "f" * 4096, "g" * 4096)
    change(path, "UPDATE string SET text = substr('x' || text, 1, 4096)")
    assert frames_of(path)[0]["file"] == "x" + "é" * 2047


@pytest.mark.parametrize(
    "statement, what",
    [
        ("UPDATE string SET text = printf('%.*c', 1100000, 'x')", "too big"),
        ("UPDATE meta SET value = zeroblob(6000000)", "too big"),
        ("INSERT INTO device VALUES (128, NULL, NULL, NULL, NULL)", "device"),
        ("UPDATE frame SET frame_id = 65553", "far beyond"),
    ],
)
def test_a_row_beyond_a_limit_is_refused_in_one_line(tmp_path, statement, what):
    path = change(one_block(tmp_path, ("a.py", 1, "f")), statement)
    completed = run_command("report", path)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert what in completed.stderr and len(completed.stderr.splitlines()) == 1


def test_a_trace_with_more_pools_than_the_limit_is_refused_in_one_line(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for number in range(1024):
        trace.tensor(number + 1, 1, pool=f"pool {number}")
    assert len(load_json("report", trace.write())["devices"][0]["pools"]) == 1024
    (tmp_path / "trace.db").unlink()
    trace.tensor(2048, 1, pool="one more")
    completed = run_command("report", trace.write())
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "more than 1024 pools" in completed.stderr and len(completed.stderr.splitlines()) == 1


NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n LIMIT 299999)"


@pytest.mark.parametrize("last", ["NULL", "1"], ids=["a chain", "a ring"])
def test_frames_one_inside_the_other_are_one_stack_of_the_limit(tmp_path, last):
    path = change(
        one_block(tmp_path, ("a.py", 1, "f")),
        "UPDATE frame SET parent_id = 2",
        f"INSERT INTO frame {NUMBERS} SELECT x, CASE x WHEN 300000 THEN {last} ELSE x + 1 END, 1, 1 FROM n",
    )
    assert len(frames_of(path)) == 2048


def test_a_frame_that_is_its_own_caller_does_not_stop_the_search_for_rounds(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for _ in range(20):
        trace.free(trace.alloc(1, stack=trace.stack(("a.py", 1, "f"))))
    path = change(trace.write(), "UPDATE frame SET parent_id = frame_id")
    for command in ("leaks", "report", "steps"):
        assert run_command(command, path).returncode == 0


def test_where_modules_overlap_the_one_that_was_mapped_last_names_the_address(tmp_path):
    chance = random.Random(11)
    trace = Trace(tmp_path / "trace.db")
    modules = [(start := chance.randrange(1, 2000), start + chance.randrange(-5, 300)) for _ in range(200)]
    for number, (start, end) in enumerate(modules, 1):
        trace.rows["module"].append((number, f"/lib/{number}", None, start, start, end))
    addresses = list(range(1, 2400))
    for address in addresses:
        trace.alloc(1, stack=trace.stack(address))
    (device,) = load_json("peak", trace.write())["devices"]
    found = sorted((site["frames"][0]["module"] or "", site["frames"][0]["function"]) for site in device["sites"])
    expected = []
    for address in addresses:
        inside = [n for n, (start, end) in enumerate(modules, 1) if start <= address - 1 < end]
        name = f"{inside[-1]}+{address - modules[inside[-1] - 1][0]:#x}" if inside else f"[anonymous]+{address:#x}"
        expected.append((f"/lib/{inside[-1]}" if inside else "", name))
    assert found == sorted(expected)


# --- --memory-limit ---

READING = [
    "report", "peak", "timeline", "frag", "phases", "leaks", "oom", "info", "resolve",
    "check --max-peak=1GiB",
]  # fmt: skip


@pytest.fixture(scope="module")
def many_sites(tmp_path_factory):
    trace = Trace(tmp_path_factory.mktemp("many") / "trace.db")
    for line in range(10_000):
        trace.alloc(MIB, stack=trace.stack(("/home/me/model.py", line, f"forward{line}")))
    return trace.write()


@sanitized
@pytest.mark.parametrize("command", READING)
def test_a_command_that_needs_more_memory_than_it_may_take_says_so_in_one_line(many_sites, command):
    completed = run_command(*command.split(), "--memory-limit=100KiB", many_sites)
    assert (completed.returncode, completed.stdout) == (2, "")
    (line,) = completed.stderr.splitlines()
    assert "out of memory" in line and "the limit is 100.00 KiB: --memory-limit=SIZE changes it" in line


@sanitized
def test_with_any_limit_there_is_the_whole_answer_or_one_line(many_sites):
    whole = run_command("peak", "--json", many_sites).stdout
    statuses = set()
    for step in range(24):
        limit = f"--memory-limit={int(200 * 1.25 ** step)}KiB"
        completed = run_command("peak", "--json", limit, many_sites)
        statuses.add(completed.returncode)
        if completed.returncode == 0:
            assert (completed.stdout, completed.stderr) == (whole, "")
        else:
            assert (completed.returncode, completed.stdout) == (2, "")
            assert len(completed.stderr.splitlines()) == 1 and "--memory-limit" in completed.stderr
    assert statuses == {0, 2}


@sanitized
def test_debug_information_counts_too(record, sample):
    trace = record(sample("train")).trace
    completed = run_command("resolve", "--memory-limit=1MiB", trace)
    assert (completed.returncode, completed.stdout) == (2, "")
    (line,) = completed.stderr.splitlines()
    assert "out of memory" in line and "--memory-limit" in line
