# SPDX-License-Identifier: MIT
"""What the file holds, its coverage and its losses."""
from conftest import load_json
from tracefile import Trace


def test_info_counts_events_by_kind_and_names_what_was_not_recorded(tmp_path):
    trace = Trace(tmp_path / "trace.db", rank=3, unwinder="libunwind")
    trace.rows["coverage"].append(("cuGraphAddMemAllocNode", 2))
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
    assert document["seen_but_untracked"] == [{"name": "cuGraphAddMemAllocNode", "count": 2}]
    assert document["meta"]["rank"] == 3
    assert document["meta"]["unwinder"] == "libunwind"
    assert document["meta"]["driver_version"] is None
    assert any("cuGraphAddMemAllocNode" in warning for warning in document["warnings"])
