# SPDX-License-Identifier: MIT
"""The recorder writes peaks at the end of a trace. The table of a job uses these recorded peaks, which equal the peaks
that a replay finds."""
import sqlite3

import pytest

from support.run import load_json
from support.tracefile import MIB, Trace


def write(path, rank, blocks, peaks=None, **meta):
    """Writes the trace of a rank that allocated these sizes. meta.peaks is `peaks`."""
    trace = Trace(path, rank=rank, **meta)
    trace.device(0, uuid=f"GPU-{rank}", name="H100", total_bytes=80 << 30)
    for size in blocks:
        trace.alloc(size, stack=trace.stack(("/job/train.py", 12, "forward"), ("/job/train.py", 9, "main")))
    trace.write()
    if peaks is not None:
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO meta VALUES ('peaks', ?)", (peaks,))
    return path


def true_peaks(size):
    return f"0 0 {size} {size}"


def figures(document):
    """Returns the figures of the job without the fields that tell how these figures were found."""
    job = document["job"]
    groups = [{key: value for key, value in group.items() if key != "replayed"} for group in job["groups"]]
    peaks = [{key: value for key, value in peak.items() if key != "replayed"} for peak in job["peaks"]]
    return document["answer"], groups, peaks, job["imbalance_ratio"], job["cards"]


def test_ranks_that_differ_are_not_replayed_for_the_table_and_have_the_figures_of_a_replay(tmp_path):
    for rank in range(20):
        size = (100 + 10 * rank) * MIB
        write(tmp_path / f"rank{rank}.db", rank, [size], true_peaks(size))
    document, replayed = load_json("peak", tmp_path), load_json("peak", tmp_path, "--every-trace")
    assert (document["job"]["recorded_traces"], document["job"]["replayed_traces"], document["job"]["shown_traces"]) == (20, 0, 8)
    assert (replayed["job"]["recorded_traces"], replayed["job"]["replayed_traces"]) == (0, 20)
    assert figures(document) == figures(replayed)
    assert {peak["replayed"] for peak in document["job"]["peaks"]} == {None}


def test_a_made_up_peak_is_taken_unless_every_trace_is_to_be_read(tmp_path):
    """A wrong peak in the table shows that the table takes the recorded peak without a replay."""
    paths = [write(tmp_path / f"rank{rank}.db", rank, [(1 + rank) * MIB], true_peaks((9 + rank) * MIB)) for rank in range(2)]
    assert [peak["peak_bytes"] for peak in load_json("peak", *paths)["job"]["peaks"]] == [9 * MIB, 10 * MIB]
    assert [peak["peak_bytes"] for peak in load_json("peak", *paths, "--every-trace")["job"]["peaks"]] == [MIB, 2 * MIB]


@pytest.mark.parametrize("peaks, meta", [
    ("0 0 9", {}), ("0 0 9 x", {}), ("0 7777 9 9", {}), ("0 0 -9 9", {}), ("500 0 9 9", {}), ("0 0 9 9 9", {}),
    (true_peaks(9), {"complete": 0}), (true_peaks(9), {"lost_events": 1}), (None, {})])  # fmt: skip
def test_what_cannot_be_taken_is_replayed(tmp_path, peaks, meta):
    paths = [write(tmp_path / f"rank{rank}.db", rank, [(1 + rank) * MIB], peaks, **meta) for rank in range(2)]
    document = load_json("peak", *paths)
    assert document["job"]["replayed_traces"] == 2
    assert [peak["peak_bytes"] for peak in document["job"]["peaks"]] == [MIB, 2 * MIB]


def test_a_pool_is_named_and_leads(tmp_path):
    paths = []
    for rank in range(2):
        trace = Trace(tmp_path / f"rank{rank}.db", rank=rank)
        pool = trace.string("rmm")
        trace.alloc(8 * MIB)
        paths.append(trace.write())
        with sqlite3.connect(paths[-1]) as database:
            database.execute("INSERT INTO meta VALUES ('peaks', ?)", (f"0 {pool} {3 * MIB} {8 * MIB}",))
    assert {(peak["layer"], peak["peak_bytes"]) for peak in load_json("peak", *paths)["job"]["peaks"]} == {("rmm pool", 3 * MIB)}


def test_a_process_without_memory_on_a_card_shares_it_with_nobody(tmp_path):
    """All ranks of a machine may list a card that only one of them used."""
    paths = []
    for rank in range(2):
        trace = Trace(tmp_path / f"rank{rank}.db", rank=rank, start_monotonic_ns=1, end_ns=10**9)
        for device in range(2):
            trace.device(device, uuid=f"GPU-{device}", name="H100", total_bytes=80 << 30)
        trace.alloc(MIB + rank, device=rank)
        trace.free(trace.alloc(0, device=1 - rank))
        paths.append(trace.write())
    assert load_json("peak", *paths)["job"]["cards"] == []


def test_the_recorder_writes_the_peaks_that_a_replay_finds(record, sample):
    """This test shows that the recorder writes peaks. support/exit_line.py compares the peaks in each recording of the
    tests."""
    recording = record(sample("train"))
    ((peaks,),) = recording.rows("SELECT value FROM meta WHERE key = 'peaks'")
    report = load_json("report", recording.trace)
    bytes = report["devices"][0]["driver"]["peak_bytes"]
    assert peaks == f"0 0 {bytes} {bytes}" and bytes > MIB


def test_a_killed_process_leaves_no_peaks(record, program):
    recording = record(program("dies_with_events"), check=False)
    load_json("info", recording.trace)
    ((peaks,),) = recording.rows("SELECT value FROM meta WHERE key = 'peaks'") or [(None,)]
    assert peaks is None
