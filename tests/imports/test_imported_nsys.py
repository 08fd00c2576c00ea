# SPDX-License-Identifier: MIT
"""Tests the import of SQLite exports of Nsight Systems: allocations of the driver and the runtime, threads, native
stacks."""
import csv

import pytest

from support.nsys_files import ALLOCATE, DEVICE_STATIC, FREE, OTHER_PID, PID, TABLES, Export, small
from support.run import load_json, run_command
from support.tracefile import MIB


@pytest.fixture
def export(tmp_path):
    return small(tmp_path / "report.sqlite")


def test_figures_are_those_of_the_events(export, imported):
    trace = imported(export.write())
    (device,) = load_json("report", trace)["devices"]
    assert (device["device"], device["name"], device["uuid"], device["total_bytes"]) == (0, "NVIDIA H100", "GPU-1", 85520809984)
    assert device["driver"] == {"peak_bytes": 6 * MIB, "peak_time_ns": 2000, "peak_seq": 3, "live_at_exit_bytes": 2 * MIB,
                                "allocations": 2, "frees": 1, "failed": None, "implicit_frees": None}  # fmt: skip
    assert (device["managed"]["peak_bytes"], device["host"]["peak_bytes"], device["imported"]["peak_bytes"]) == (MIB, 512, None)
    assert device["pools"] == []
    meta = load_json("info", trace)["meta"]
    assert (meta["pid"], meta["imported_format"], meta["complete"]) == (PID, "nsys", None)
    assert run_command("check", "--max-peak=1GiB", trace).returncode == 2


def test_which_allocations_failed_is_not_known(export, imported):
    trace = imported(export.write())
    assert load_json("oom", trace)["answer"] == [f"The trace {trace} does not say which allocations failed."]
    assert load_json("report", trace)["trace"]["complete"] is None


def test_calls_threads_streams_and_stacks_are_kept(export, imported):
    trace = imported(export.write())
    (site, *_) = load_json("peak", trace)["devices"][0]["sites"]
    assert site["bytes"] == 6 * MIB
    assert [(frame["kind"], frame["function"]) for frame in site["frames"]] == [("native", "cudaMalloc"), ("native", "make(int)"), ("native", "main")]
    rows = list(csv.DictReader(run_command("export", "--to=csv", trace).stdout.splitlines()))
    assert [row["call"] for row in rows] == ["cudaMalloc_v3020", "cudaMallocManaged_v6000", "cudaMallocAsync_v11020", "cudaMallocHost_v3020", "cudaFree_v3020"]
    assert len({row["thread"] for row in rows}) == 2 and rows[2]["stream"] == "14"


def test_a_free_of_what_came_before_and_what_is_left_out_are_said(export, imported):
    export.event(5000, FREE, 0x7777, 10)
    export.event(6000, ALLOCATE, 0x8888, 10, DEVICE_STATIC)
    (warning, *_) = load_json("report", imported(export.write()))["warnings"]
    assert "before the profile began" in warning and "1 entries" in warning


def test_one_of_several_processes_is_asked_for(export, imported, refused):
    export.event(5000, ALLOCATE, 0x7F0001000000, 64 * MIB, pid=OTHER_PID)
    path = export.write()
    said = refused(path)
    assert "--process=" in said and str(PID) in said and str(OTHER_PID) in said
    assert load_json("report", imported(path, f"--process={OTHER_PID}"))["devices"][0]["driver"]["peak_bytes"] == 64 * MIB
    assert load_json("report", imported(path, f"--process={PID}"))["devices"][0]["driver"]["peak_bytes"] == 6 * MIB


def test_tables_and_columns_that_a_release_lacks_are_not_known(tmp_path, imported):
    export = Export(tmp_path / "old.sqlite", "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, address INT, bytes INT, memKind INT, memoryOperationType INT)")
    export.run(f"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, {PID << 24}, 1, 4096, 512, 2, 0)")
    (device,) = load_json("report", imported(export.write()))["devices"]
    assert (device["device"], device["name"], device["total_bytes"], device["driver"]["peak_bytes"]) == (1, None, None, 512)


def test_a_report_without_memory_usage_says_how_to_get_it(tmp_path, refused):
    export = Export(tmp_path / "plain.sqlite", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    assert "--cuda-memory-usage=true" in refused(export.write())


def test_the_column_without_which_the_table_says_nothing_is_named(tmp_path, refused):
    export = Export(tmp_path / "bare.sqlite", "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT)")
    assert "no table CUDA_GPU_MEMORY_USAGE_EVENTS with a column memoryOperationType" in refused(export.write())


def test_a_trace_is_not_imported(export, imported, refused):
    assert "is a trace already" in refused(imported(export.write()))


VIEW = "CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS start, 0 AS globalPid, 0 AS deviceId, i AS address, 1 AS bytes, 2 AS memKind, 0 AS memoryOperationType FROM n"
COMPUTED = TABLES.replace("address INTEGER NOT NULL", "address INTEGER AS (length(hex(zeroblob(400000))))")


@pytest.mark.parametrize("tables", [VIEW, COMPUTED, "CREATE VIRTUAL TABLE CUDA_GPU_MEMORY_USAGE_EVENTS USING fts4(start, memoryOperationType)"])
def test_what_a_database_would_run_is_not_run(tmp_path, refused, tables):
    refused(Export(tmp_path / "evil.sqlite", tables).write())


@pytest.mark.parametrize("column, value", [("start", -5), ("bytes", -1), ("deviceId", 128), ("deviceId", -1), ("bytes", -(2**63))])
def test_a_number_out_of_range_is_refused(export, refused, column, value):
    export.run(f"UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET {column} = {value} WHERE rowid = 2")
    assert "out of range" in refused(export.write())


@pytest.mark.parametrize("column, value", [
    ("bytes", "'4 MiB'"), ("start", "'then'"), ("address", "x'00ff'"), ("memKind", "2.5"), ("correlationId", "'one'"),
])  # fmt: skip
def test_a_column_of_another_type_is_refused_by_its_name(export, refused, column, value):
    export.run(f"UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET {column} = {value} WHERE rowid = 2")
    assert f"table CUDA_GPU_MEMORY_USAGE_EVENTS: column {column} has a value of the wrong type" in refused(export.write())


def test_what_a_call_holds_must_be_a_number_too(export, refused):
    export.run("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = 'main' WHERE rowid = 2")
    assert "CUPTI_ACTIVITY_KIND_RUNTIME: column globalTid" in refused(export.write())


def test_allocations_that_add_up_to_more_than_any_memory_are_refused(export, refused):
    for number in range(3):
        export.event(5000 + number, ALLOCATE, (1 + number) << 61, 2**60)
    assert "more than any memory" in refused(export.write())


def test_large_blocks_one_after_the_other_are_no_lie(export, imported):
    for number in range(9):
        export.event(5000 + 2 * number, ALLOCATE, 1 << 61, 2**60)
        export.event(5001 + 2 * number, FREE, 1 << 61, 2**60)
    assert load_json("report", imported(export.write()))["devices"][0]["driver"]["peak_bytes"] == 2**60 + 2 * MIB


@pytest.mark.parametrize("bytes_left", [50, 4096, 20000])
def test_a_file_that_is_cut_short_is_called_so(tmp_path, export, refused, bytes_left):
    path = export.write()
    (tmp_path / "cut.sqlite").write_bytes(path.read_bytes()[:bytes_left])
    said = refused(tmp_path / "cut.sqlite")
    assert f"cut.sqlite is truncated: {bytes_left} " in said and "nsys export" in said and "table event" not in said
