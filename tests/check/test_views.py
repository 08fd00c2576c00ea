# SPDX-License-Identifier: MIT
"""The views of a trace work with any SQLite and agree with the commands."""
import re
import sqlite3

import pytest

from support.run import ROOT, load_json
from support.tracefile import MIB, Trace

FORMAT = (ROOT / "include/gpumemtrace/TRACE-FORMAT.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| ([^|]+\?) \| `(SELECT [^`]+)` \|$", FORMAT, re.M)
VIEWS = re.findall(r"^CREATE VIEW (\w+)", (ROOT / "trace/views.sql").read_text(encoding="utf-8"), re.M)


def query(trace, text):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        return database.execute(text).fetchall()


def with_views(trace):
    with sqlite3.connect(trace.write()) as database:
        database.executescript((ROOT / "trace/views.sql").read_text(encoding="utf-8"))
        for table, column, values in (("event_kind", "kind", "Kinds of events"), ("memory_kind", "memory", "Kinds of memory")):
            body = FORMAT.split(f"## {values}\n")[1].split("\n## ")[0]
            for row in re.findall(r"^\| (\d.*) \|$", body, re.M):
                cells = [cell.strip() for cell in row.split("|")][: 2 if table == "event_kind" else 4]
                database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(cells))})", cells)
    return trace.path


def test_each_view_has_an_example():
    assert len(EXAMPLES) >= 11
    asked = " ".join(text for _, text in EXAMPLES)
    assert [view for view in VIEWS if not re.search(rf"\b{view}\b", asked)] == []


@pytest.mark.parametrize("question, text", EXAMPLES)
def test_an_example_runs_on_a_trace_that_was_recorded(record, program, question, text):
    found = query(record(program("phases")).trace, text)
    assert found or question in ("What failed?", "What happens inside other calls?", "Which Python lines allocate?",
                              "Which variables keep the memory?")


def test_the_peak_and_what_was_never_freed_are_as_the_commands_say(record, program):
    trace = record(program("phases")).trace
    (device,) = load_json("report", trace)["devices"]
    example = dict(EXAMPLES)
    assert query(trace, example["How high was the peak of device memory?"]) == [(0, device["driver"]["peak_bytes"])]
    ((seq, time_ns),) = query(trace, example["When was it reached?"])
    assert (seq, time_ns) == (device["driver"]["peak_seq"], device["driver"]["peak_time_ns"])
    left = "SELECT sum(bytes), sum(blocks) FROM live_at_exit WHERE account = 'device'"
    allocations, frees = device["driver"]["allocations"], device["driver"]["frees"]
    assert query(trace, left) == [(device["driver"]["live_at_exit_bytes"], allocations - frees)]


def test_a_block_ends_with_its_free_or_with_the_next_at_its_address(trace):
    a = trace.alloc(10)
    trace.free(a)
    b = trace.alloc(20, address=a)
    trace.alloc(30, address=b)  # the recorder missed the free of the block that was at this address before
    trace.tensor(b, 5)
    trace.fail(99)
    trace.alloc(1, "pinned", address=b)
    found = query(with_views(trace), "SELECT seq, size_bytes, end_seq FROM blocks ORDER BY seq")
    assert found == [(1, 10, 2), (3, 20, 4), (4, 30, None), (5, 5, None), (7, 1, None)]
    live = query(trace.path, "SELECT seq, live_bytes FROM live_bytes WHERE account = 'device' ORDER BY seq")
    assert live == [(1, 10), (2, 0), (3, 20), (4, 0), (4, 30)]


def test_what_is_freed_after_the_exit_was_live_at_the_exit(tmp_path):
    trace = Trace(tmp_path / "trace.db", exit_seq=2)
    a = trace.alloc(10)
    trace.exit()
    trace.free(a)
    assert query(with_views(trace), "SELECT bytes, blocks FROM live_at_exit") == [(10, 1)]


def test_a_phase_ends_with_the_pop_of_its_depth_thread_and_source_or_of_its_number(trace):
    trace.push("outer")  # 1
    trace.push("inner")  # 2
    trace.push("other thread", thread=2)  # 3
    trace.push("range", source=1, range_id=7, domain="CCCL")  # 4
    trace.pop()  # 5
    trace.pop()  # 6
    trace.pop(source=1, range_id=7, thread=2)  # 7
    trace.push("outer")  # 8
    found = query(with_views(trace), "SELECT seq, end_seq, name, source, domain FROM phases ORDER BY seq")
    assert found == [
        (1, 6, "outer", "api", None), (2, 5, "inner", "api", None), (3, None, "other thread", "api", None),
        (4, 7, "range", "nvtx", "CCCL"), (8, None, "outer", "api", None),
    ]  # fmt: skip


def test_calls_are_counted_by_api(trace):
    trace.rows["hook"] = [(1, "cudaMalloc", "runtime"), (2, "cudaFree", "runtime")]
    trace.free(trace.alloc(10, hook=1), hook=2)
    trace.fail(99, hook=1, result=1)
    found = query(with_views(trace), "SELECT * FROM calls ORDER BY api")
    assert found == [("cudaFree", "free", 1, 0, 0), ("cudaMalloc", "alloc", 1, 1, 10)]


def test_what_failed_and_what_succeeded_are_told_apart_and_reserved_addresses_are_neither(trace):
    trace.rows["hook"] = [(1, "cudaMalloc", "runtime")]
    trace.alloc(10, hook=1)
    trace.fail(99, hook=1, stack=trace.stack(("train.py", 3, "main")))
    trace.alloc(1 << 40, "reservation")
    trace.fail(1 << 41, "reservation")
    database = with_views(trace)
    assert query(database, "SELECT seq, api, memory, size_bytes FROM allocations") == [(1, "cudaMalloc", "linear", 10)]
    assert query(database, "SELECT seq, api, size_bytes, result FROM failures") == [(2, "cudaMalloc", 99, 2)]


def test_what_happened_inside_a_call_names_the_call_before_or_after_it_of_its_own_thread(trace):
    trace.rows["hook"] = [(1, "cudaMalloc", "runtime"), (2, "cuMemAlloc", "driver"), (3, "cudaFree", "runtime")]
    trace.alloc(10, hook=2, call=7, nested=1)  # 1: inside event 3
    trace.alloc(10, hook=2, call=7, nested=1, thread=2)  # 2: inside event 6, on another thread
    trace.alloc(10, hook=1, call=7)  # 3
    trace.free(1, hook=3, call=8)  # 4
    trace.free(1, hook=2, call=8, nested=1)  # 5: inside event 4
    trace.alloc(10, hook=1, call=7, thread=2)  # 6
    found = query(with_views(trace), "SELECT seq, api, parent_seq, parent_api FROM nested_events ORDER BY seq")
    assert found == [(1, "cuMemAlloc", 3, "cudaMalloc"), (2, "cuMemAlloc", 6, "cudaMalloc"), (5, "cuMemAlloc", 4, "cudaFree")]


def test_frames_have_the_names_that_were_written_and_the_offset_in_their_module(trace):
    trace.rows["module"].append((1, "/lib/libmodel.so", "abcd", 0x1000, 0x2000, 0x3000))
    trace.name(0x2345, ("model.h", 5, "inner"), ("model.c", 9, "outer"))
    trace.alloc(1, stack=trace.stack(0x2345, 0x3000, ("train.py", 12, "main"), "backward"))
    native = query(with_views(trace), "SELECT address, path, build_id, offset FROM native_frames ORDER BY address")
    assert native == [(0x2345, "/lib/libmodel.so", "abcd", 0x1345), (0x3000, None, None, None)]
    assert query(trace.path, "SELECT function, file, line FROM python_frames") == [("main", "train.py", 12)]
    named = query(trace.path, "SELECT kind, level, function, file, line FROM named_frames ORDER BY kind, function, level")
    assert named == [
        ("label", 0, "backward", None, None), ("native", None, None, None, None), ("native", 0, "inner", "model.h", 5),
        ("native", 1, "outer", "model.c", 9), ("python", 0, "main", "train.py", 12),
    ]  # fmt: skip
