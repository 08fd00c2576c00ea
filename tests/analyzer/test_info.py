# SPDX-License-Identifier: MIT
"""`info`: the content of a file, its coverage and its losses."""
import sqlite3

from support.run import ROOT, load_json
from support.tracefile import KINDS, MEMORIES, Trace


def test_info_counts_events_by_kind_and_names_what_was_not_recorded(tmp_path):
    trace = Trace(tmp_path / "trace.db", rank=3, unwinder="libunwind")
    trace.rows["coverage"].append(("cuMemAllocQuantum", 2))
    trace.free(trace.alloc(1, stack=trace.stack("a", "b")), thread=2)
    trace.free(0xDEAD)
    trace.exit()
    document = load_json("info", trace.write())
    assert document["schema"] == "gpumemtrace.info/1"
    assert document["events_by_kind"] == [
        {"kind": "alloc", "count": 1}, {"kind": "free", "count": 2}, {"kind": "exit", "count": 1},
    ]  # fmt: skip
    assert document["counts"] == {
        "events": 4, "threads": 2, "modules": 0, "frames": 2, "unknown_frees": 1,
    }  # fmt: skip
    assert document["seen_but_untracked"] == [{"name": "cuMemAllocQuantum", "count": 2}]
    assert document["meta"]["rank"] == 3
    assert document["meta"]["unwinder"] == "libunwind"
    assert document["meta"]["driver_version"] is None
    assert any("1 allocation entry point that is not recorded (cuMemAllocQuantum)" in warning
               for warning in document["warnings"])


def test_people_read_what_to_do_about_it_and_what_no_trace_can_tell(tmp_path, gpumemtrace):
    trace = Trace(tmp_path / "trace.db")
    text = gpumemtrace("info", trace.write()).stdout
    assert "every allocation entry point that the program looked up is recorded" in text
    assert "memory of other processes" in text
    trace.path.unlink()
    trace.rows["coverage"].append(("cuMemAllocQuantum", 2))
    text = gpumemtrace("info", trace.write()).stdout
    assert "A newer gpumemtrace may" in text.replace("\n", " ").replace("  ", " ")


def test_it_opens_with_whether_the_trace_is_whole(tmp_path):
    def answer(complete=1, **meta):
        trace = Trace(tmp_path / "trace.db", complete=complete, **meta)
        trace.path.unlink(missing_ok=True)
        trace.alloc(1)
        if complete:
            trace.exit()
        return load_json("info", trace.write())["answer"]

    assert answer() == ["Complete: 2 events in 2.00 us, none lost."]
    assert answer(exit_status=3) == ["Complete: 2 events in 2.00 us, none lost; the program ended with status 3."]
    assert answer(lost_events=7) == ["The trace is not complete.", "7 events were lost: figures are incomplete."]
    assert answer(complete=0) == ["The trace is not complete.",
                                  "The process ended without exit (killed, or by a raw exit_group): "
                                  "the last state is taken for the state at exit."]  # fmt: skip


HOOKS = [(1, "cudaMalloc", "runtime"), (2, "cuDevicePrimaryCtxRetain", "driver"),
         (3, "cuLibraryLoadData", "driver"), (4, "cudaDeviceReset", "runtime")]  # fmt: skip


def nested_of(trace):
    trace.rows["hook"] += HOOKS
    return [(row["seq"], row["kind"], row["api"], row["parent_seq"], row["parent_api"])
            for row in load_json("info", trace.write())["nested"]]


def test_what_a_first_allocation_made_inside_itself_has_it_as_parent(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.event("context-create", object=0xC0, device=0, call=1, nested=1, hook=2)  # 1
    trace.module(0x11, 100, 90, nested=1, hook=3)  # 4, after its two samples
    trace.alloc(8, thread=2, hook=1)  # 5: another thread
    trace.alloc(8, call=1, hook=1)  # 6
    trace.alloc(8, hook=1)  # 7
    assert nested_of(trace) == [
        (1, "context-create", "cuDevicePrimaryCtxRetain", 6, "cudaMalloc"),
        (4, "module-load", "cuLibraryLoadData", 6, "cudaMalloc"),
    ]


def test_what_a_free_or_a_reset_made_inside_itself_stands_behind_it(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.event("context-destroy", device=0, call=5, hook=4)  # 1
    trace.event("module-unload", object=0x11, call=5, nested=1, hook=3)  # 2
    trace.event("context-create", object=0xC0, device=0, call=6, nested=1, hook=2)  # 3
    trace.alloc(8, call=6, hook=1)  # 4
    assert nested_of(trace) == [
        (2, "module-unload", "cuLibraryLoadData", 1, "cudaDeviceReset"),
        (3, "context-create", "cuDevicePrimaryCtxRetain", 4, "cudaMalloc"),
    ]


def test_a_nested_event_whose_call_was_never_recorded_has_no_parent(tmp_path):
    trace = Trace(tmp_path / "trace.db", complete=0)
    trace.alloc(8, call=3, hook=1)
    trace.event("context-create", object=0xC0, device=0, call=4, nested=1, hook=2)
    assert nested_of(trace) == [(2, "context-create", "cuDevicePrimaryCtxRetain", None, None)]


def test_the_view_for_people_finds_the_same_parents(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.event("context-destroy", device=0, call=1, hook=4)  # 1
    trace.event("module-unload", object=0x11, call=1, nested=1, hook=3)  # 2
    trace.event("context-create", object=0xC0, device=0, call=2, nested=1, hook=2)  # 3
    trace.alloc(8, call=2, hook=1)  # 4
    trace.event("context-create", object=0xC0, device=0, call=1, nested=1, hook=2)  # 5
    trace.alloc(8, call=1, hook=1)  # 6: call numbers have wrapped around
    expected = nested_of(trace)
    database = sqlite3.connect(trace.path)
    database.executescript((ROOT / "trace" / "views.sql").read_text(encoding="utf-8"))
    database.executemany("INSERT INTO event_kind VALUES (?, ?)", enumerate(KINDS))
    database.executemany("INSERT INTO memory_kind VALUES (?, ?, '', '')", enumerate(MEMORIES))
    rows = database.execute(
        "SELECT seq, kind, api, parent_seq, parent_api FROM nested_events ORDER BY seq"
    ).fetchall()
    assert rows == expected
    assert [row[3] for row in rows] == [1, 4, 6]
