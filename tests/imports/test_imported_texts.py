# SPDX-License-Identifier: MIT
"""Tests the import of RMM's logs and of collapsed stacks, from hand-written files and from a log that RMM wrote."""
import csv
import pickle
import sqlite3

import pytest

from support.run import ROOT, load_json, run_command
from support.tracefile import MIB, Trace

HEAD = "Thread,Time,Action,Pointer,Size,Stream\n"


@pytest.fixture
def log(tmp_path, imported):
    """Returns log(line, …): the trace imported from a log of these lines."""

    def write(*lines):
        path = tmp_path / "rmm.csv"
        path.write_text(HEAD + "".join(line + "\n" for line in lines))
        return imported(path)

    return write


def test_a_file_of_another_tool_given_as_a_trace_is_named_with_the_command_that_reads_it(tmp_path):
    files = {"log.csv": HEAD.encode(), "snapshot.pickle": pickle.dumps({"segments": []}), "held.txt": b"main;load 4096\n"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with sqlite3.connect(tmp_path / "export.sqlite") as export:
        export.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMORY2 (bytes INTEGER)")
    for name in (*files, "export.sqlite"):
        completed = run_command("report", tmp_path / name)
        assert completed.returncode == 2 and len(completed.stderr.splitlines()) == 1
        assert completed.stderr.rstrip().endswith(f": gpumemtrace import {tmp_path / name}")
    (tmp_path / "notes.txt").write_text("no trace\n")
    assert run_command("report", tmp_path / "notes.txt").stderr.rstrip().endswith("is not a trace (not a SQLite file)")


def only_pool(trace):
    (device,) = load_json("report", trace)["devices"]
    assert device["device"] is None
    (pool,) = device["pools"]
    return pool


def test_a_log_of_rmm_gives_its_figures_and_no_others(log):
    trace = log("7,10:00:00.000000,allocate,0x7f0000000000,1048576,0x0", "7,10:00:00.250000,allocate,0x7f0000100000,2097152,0x5",
                "9,10:00:01.000000,free,0x7f0000000000,1048576,0x0", "9,10:00:02.000000,allocate failure,(nil),99999999999,0x0")  # fmt: skip
    assert only_pool(trace) == {
        "name": "rmm", "peak_live_bytes": 3 * MIB, "peak_reserved_bytes": None, "peak_time_ns": 250_000_000, "peak_seq": 2,
        "live_at_exit_bytes": 2 * MIB, "allocations": 2, "frees": 1, "failed": 1}  # fmt: skip
    report = load_json("report", trace)
    assert report["trace"]["complete"] and report["trace"]["duration_ns"] == 2_000_000_000
    assert set(report["devices"][0]["driver"].values()) == {None}
    (failure,) = report["oom"]
    assert (failure["verdict"], failure["kind"], failure["asked_bytes"]) == ("unknown", "unknown", 99999999999)


def test_a_log_that_rmm_wrote_has_the_figures_that_rmm_counted(imported):
    """log_of_rmm.py wrote the log with RMM 26.10. The expected figures are those of RMM's
    statistics_resource_adaptor."""
    trace = imported(ROOT / "tests/data/rmm-26.10.csv")
    told = {"peak_live_bytes": 962086, "live_at_exit_bytes": 819540, "allocations": 30, "frees": 16, "failed": 1}
    assert only_pool(trace) | told == only_pool(trace)
    assert load_json("report", trace)["trace"]["complete"] is True


def test_no_zero_stands_for_what_a_log_of_rmm_cannot_know(log):
    trace = log("7,10:00:00.000000,allocate,0x7f0000000000,1048576,0x0", "7,10:00:01.000000,free,0x7f0000000000,1048576,0x0")
    report = load_json("report", trace)
    assert (report["trace"]["lost_events"], report["trace"]["in_flight_events"]) == (None, None)
    (moment, *_) = report["ledger"][0]["moments"]
    assert (moment["process_bytes"], moment["managed_bytes"], moment["imported_bytes"]) == (None, None, None)
    assert [moment["live_bytes"] for moment in load_json("peak", trace)["devices"][0]["moments"]] == [MIB, None]
    rows = load_json("frag", trace)["devices"][0]["over_time"]
    assert {row["live_bytes"] for row in rows} == {0, MIB} and {row["reserved_bytes"] for row in rows} == {None}
    leaks = load_json("leaks", trace)["devices"][0]["leaks"]
    assert [(total["live_at_exit_bytes"], total["blocks"]) for total in leaks["totals"]] == [(0, 0), (None, None)]
    assert {row[key] for row in leaks["growth"] for key in row if key.startswith(("leak_", "enlarged_", "cache_"))} == {None}
    assert leaks["growth"][1]["floor_bytes_per_step"] is None
    assert "Driver" not in run_command("timeline", trace).stdout


def test_no_zero_stands_beside_a_failure_that_a_log_of_rmm_tells_of(log):
    (failure,) = load_json("oom", log("7,10:00:00.0,allocate failure,(nil),512,0x0", "7,10:00:01.0,allocate,0x10,512,0x0"))["oom"]
    unknown = ["reserved", "idle", "largest_hole", "driver_live", "outside", "graph", "other_stream", "flushed"]
    assert [failure[f"{name}_bytes"] for name in unknown] == [None] * len(unknown)


@pytest.mark.parametrize("command", ["peak", "frag", "timeline", "leaks"])
def test_the_driver_is_no_layer_of_what_says_nothing_of_it(log, command):
    trace = log("7,10:00:00.000000,allocate,0x7f0000000000,1048576,0x0")
    completed = run_command(command, "--layer=driver", trace)
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (2, "", 1)
    assert "--layer=driver: the imported file (rmm)" in completed.stderr


@pytest.mark.parametrize("limit", ["--max-retries=0", "--max-fragmentation=0.5"])
def test_a_check_of_what_a_log_of_rmm_cannot_know_is_refused(log, limit):
    completed = run_command("check", limit, log("7,10:00:00.0,allocate failure,(nil),512,0x0"))
    assert (completed.returncode, completed.stderr.count("\n")) == (2, 1) and "cannot tell how" in completed.stderr


def test_what_the_driver_gave_is_not_known(log):
    trace = log("7,10:00:00.000000,allocate,0x7f0000000000,1048576,0x0")
    shown = run_command("report", trace).stdout
    assert "\ndriver " not in shown and "nvidia-smi" not in shown
    for name in ("ledger", "fit"):
        shown = run_command(name, trace).stdout
        assert "no device memory" not in shown.lower() and "not known" in shown


def test_a_day_ends_within_a_log_and_threads_may_be_out_of_order(log):
    trace = log("7,23:59:59.900000,allocate,0x10,512,0x0", "8,23:59:59.899990,allocate,0x20,512,0x0", "7,00:00:00.100000,free,0x10,512,0x0",
                "7,12:30:00.100000,free,0x20,512,0x0")  # fmt: skip
    assert load_json("report", trace)["trace"]["duration_ns"] == 200_000_000 + 45_000 * 10**9


def test_times_since_1970_and_other_words_are_read(log):
    trace = log("140573312345856,1634567890.123456,allocate,0x7f8a40000000,1024,0x7f8a38001020",
                "140573312345856,1634567890.3,deallocate,0x7f8a40000000,1024,0x7f8a38001020")  # fmt: skip
    assert only_pool(trace)["frees"] == 1
    assert load_json("report", trace)["trace"]["duration_ns"] == 176_544_000


def test_a_free_of_what_no_line_gave_says_that_the_log_is_not_whole(log):
    trace = log("7,10:00:00.000000,free,0x7f0000000000,1048576,0x0", "7,10:00:00.100000,allocate,0x7f0000000000,512,0x0")
    report = load_json("report", trace)
    assert not report["trace"]["complete"] and "before its first line" in report["warnings"][0]


LINES = """
    7,10:00:00.0,allocate,0x10,512 | 7,10:00:00.0,allocate,0x10,512,0x0,more | x,10:00:00.0,allocate,0x10,512,0x0
    7,10:00,allocate,0x10,512,0x0 | 7,25:00:00.0,allocate,0x10,512,0x0 | 7,10:00:00.x,allocate,0x10,512,0x0 | 7,9999999999999,allocate,0x10,512,0x0
    7,10:00:00.0,give,0x10,512,0x0 | 7,10:00:00.0,allocate,0xfffffffffffffffff,512,0x0 | 7,10:00:00.0,allocate,ten,512,0x0
    7,10:00:00.0,allocate,0x10,-5,0x0 | 7,10:00:00.0,allocate,0x10,9223372036854775808,0x0 | 7,10:00:00.0,allocate,0x10,,0x0
""".replace("\n", "|").split("|")[1:-1]


@pytest.mark.parametrize("line", [line.strip() for line in LINES])
def test_a_line_that_rmm_does_not_write_is_named(tmp_path, refused, line):
    path = tmp_path / "rmm.csv"
    path.write_text(HEAD + "7,10:00:00.000000,allocate,0x10,512,0x0\n" + line + "\n")
    assert "line 3" in refused(path)


def test_a_free_of_another_size_than_was_allocated_is_refused(tmp_path, refused):
    """RMM requires that a free has the size of the allocation."""
    path = tmp_path / "rmm.csv"
    path.write_text(HEAD + "7,10:00:00.0,allocate,0x10,1024,0x0\n7,10:00:00.0,free,0x10,512,0x0\n")
    assert "line 3: it frees another size than was allocated there" in refused(path)


def test_allocations_beyond_all_memory_are_refused(tmp_path, refused):
    path = tmp_path / "rmm.csv"
    path.write_text(HEAD + "".join(f"7,10:00:00.0,allocate,{number << 60:#x},{2**60},0x0\n" for number in range(1, 4)))
    assert "line 4" in refused(path)


def test_what_has_no_bytes_may_have_no_address(log):
    trace = log(*(f"7,10:00:00.{i},{action},(nil),0,0x0" for i, action in enumerate(["allocate", "allocate", "free", "free"])))
    assert load_json("report", trace)["trace"]["complete"]


def test_a_snapshot_of_pytorch_is_not_made_of_a_log_that_names_no_device(tmp_path, log):
    trace, path = log("7,10:00:00.000000,allocate,0x7f0000000000,1048576,0x0"), tmp_path / "a.pickle"
    completed = run_command("export", "--to=torch-snapshot", "-o", path, trace)
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n"), path.exists()) == (2, "", 1, False)
    assert f"{trace} does not say on which device" in completed.stderr and "--to=csv" in completed.stderr


# --- collapsed stacks ---


def weights(text):
    """Returns {stack: bytes}."""
    found = {}
    for line in text.splitlines():
        stack, _, number = line.rpartition(" ")
        found[stack] = found.get(stack, 0) + int(number)
    return found


def test_collapsed_stacks_are_what_they_were_when_they_are_exported_again(tmp_path, imported):
    source = Trace(tmp_path / "source.db")
    for i, size in enumerate([3 * MIB, MIB, 512, 3 * MIB]):
        source.alloc(size, stack=source.stack("cudaMalloc", ("/home/me/model.py", 10 + i % 3, f"layer{i % 3}"), ("train.py", 2, "<module>")))
    first = run_command("export", "--to=collapsed", source.write()).stdout
    (tmp_path / "a.txt").write_text(first)
    trace = imported(tmp_path / "a.txt")
    assert weights(run_command("export", "--to=collapsed", trace).stdout) == weights(first)
    pool = only_pool(trace)
    assert (pool["peak_live_bytes"], pool["peak_time_ns"], pool["peak_reserved_bytes"]) == (7 * MIB + 512, None, None)
    (largest, *_) = load_json("peak", trace)["devices"][0]["sites"]
    assert [(frame["kind"], frame["function"], frame["file"], frame["line"]) for frame in largest["frames"]] == [
        ("native", "cudaMalloc", None, None), ("python", "layer0", "model.py", 10), ("python", "<module>", "train.py", 2)]  # fmt: skip


def test_events_without_a_time_have_an_empty_cell_for_it(tmp_path, imported):
    (tmp_path / "a.txt").write_text("main;f 7\n")
    (row,) = csv.DictReader(run_command("export", "--to=csv", imported(tmp_path / "a.txt")).stdout.splitlines())
    assert (row["seq"], row["time_ns"], row["bytes"]) == ("1", "", "7")


def test_a_snapshot_of_pytorch_is_not_made_of_collapsed_stacks(tmp_path, imported):
    (tmp_path / "a.txt").write_text("main;f 7\n")
    completed = run_command("export", "--to=torch-snapshot", "-o", tmp_path / "a.pickle", imported(tmp_path / "a.txt"))
    assert completed.returncode == 2 and "on which device" in completed.stderr


def test_no_zero_stands_for_what_collapsed_stacks_cannot_know(tmp_path, imported):
    (tmp_path / "a.txt").write_text("main;f 7\n")
    trace = imported(tmp_path / "a.txt")
    pool = only_pool(trace)
    assert (pool["allocations"], pool["frees"], pool["failed"]) == (None, None, None)
    report = load_json("report", trace)
    assert (report["trace"]["duration_ns"], report["trace"]["complete"]) == (None, None)
    assert {row["freed_bytes"] for row in report["devices"][0]["phases"]} == {None}
    assert [total["blocks"] for total in report["leaks"][0]["totals"]] == [None, None]
    assert {row["begin"] for row in load_json("timeline", trace)["devices"][0]["timeline"]} == {None}
    assert load_json("oom", trace)["answer"] == [f"The trace {trace} does not say which allocations failed."]


def test_names_with_spaces_and_parentheses_are_kept(tmp_path, imported):
    lines = {"main;operator new(unsigned long) const;f (a b.cpp:12)": 7, "main;g (x)": 8, "(anonymous namespace)::h (h.py:3)": 9, "one": 1}
    (tmp_path / "a.txt").write_text("".join(f"{stack} {number}\n" for stack, number in lines.items()))
    assert weights(run_command("export", "--to=collapsed", "--native=full", imported(tmp_path / "a.txt")).stdout) == lines


@pytest.mark.parametrize("text", ["a;b 5\nc\n", "a;b 5\nc;d 1.5\n", "a 5\nb -1\n", "a 5\nb 99999999999999999999\n", "a 2305843009213693952\nb 2\nc 3\n", "a 5\n 7\n"])
def test_a_line_without_bytes_is_refused(tmp_path, refused, text):
    (tmp_path / "a.txt").write_text(text)
    assert ": line " in refused(tmp_path / "a.txt")


def test_windows_ends_of_lines_empty_lines_and_a_missing_last_end_are_read(tmp_path, imported):
    (tmp_path / "a.txt").write_bytes(b"a;b 5\r\n\r\nc 6")
    assert only_pool(imported(tmp_path / "a.txt"))["peak_live_bytes"] == 11


def test_a_mark_of_utf8_before_a_text_is_passed_over(tmp_path, imported):
    path = tmp_path / "rmm.csv"
    path.write_bytes(b"\xef\xbb\xbfThread,Time,Action,Pointer,Size,Stream\n1,12:00:00.000000,allocate,0x1000,1048576,0x0\n")
    assert only_pool(imported(path))["peak_live_bytes"] == MIB
