# SPDX-License-Identifier: MIT
"""Tests make check-gpu without a GPU: check.py runs on the simulator, and its comparisons find wrong results."""
import subprocess
import sys

import pytest

from gpu import training
from support import matrix
from support.run import BUILD, PRELOAD_FIRST, ROOT, TIMEOUT_S, clean_environment


def run_check(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "gpu.check", *arguments],
        env=clean_environment(GPUMEMTRACE_BUILD=BUILD, PYTHONPATH=ROOT / "tests",
                              PYTHONDONTWRITEBYTECODE="1", **environment),
        capture_output=True, text=True, timeout=TIMEOUT_S,
    )


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_its_table_has_every_family_and_way_and_none_is_wrong(tmp_path):
    path = tmp_path / "table.txt"
    completed = run_check("--simulated", "-o", path)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    text = path.read_text(encoding="utf-8")
    heading, *rows = text[text.index("\nfamily") + 1 : text.index("\n\n+ each event")].splitlines()
    assert len(heading.split()) == 1 + len(matrix.WAYS) + 1
    assert [row[:32].strip() for row in rows] == [f"{f.api} {f.name}" for f in matrix.FAMILIES]
    assert all(row[34] == "+" for row in rows)
    assert not any("!" in row[32:] for row in rows)
    assert "gcc:" not in text
    assert "right" in text[text.index("\nctypes") :].splitlines()[1]


def test_without_a_gpu_it_says_why_and_exits_77():
    completed = run_check(CUDA_VISIBLE_DEVICES="")
    assert completed.returncode == 77
    assert completed.stdout.startswith("check-gpu: skipped: ")


MARK = {"kind": "mark", "text": "driver 0 linear", "nested": 0}
END = {"kind": "mark", "text": "end", "nested": 0}
ALLOC = {"kind": "alloc", "api": "cuMemAlloc_v2", "memory": "linear", "address": 7, "size_bytes": 64,
         "object": 1, "result": 0, "nested": 0, "text": None}
FREE = {**ALLOC, "kind": "free", "api": "cuMemFree_v2", "size_bytes": 0}
BOOKED = [{key: ALLOC[key] for key in ("kind", "api", "memory", "address", "size_bytes", "result")},
          {key: FREE[key] for key in ("kind", "api", "address", "result")}]


def wrong(*rows, names="exact", reason=""):
    entry = {"mark": MARK["text"], "events": BOOKED, "reason": reason}
    return matrix.differences(matrix.Result(None, [MARK, *rows, END], None), entry, names)


def test_rows_as_booked_are_right():
    assert wrong(ALLOC, FREE) == []


@pytest.mark.parametrize(
    "rows",
    [
        (ALLOC,),
        (ALLOC, ALLOC, FREE),
        (ALLOC, FREE, FREE),
        (FREE, ALLOC),
        ({**ALLOC, "size_bytes": 65}, FREE),
        ({**ALLOC, "memory": "pitched"}, FREE),
        ({**ALLOC, "api": "cudaMalloc"}, FREE),
        (ALLOC, {**FREE, "address": 8}),
        (ALLOC, {**FREE, "result": 1}),
        (ALLOC, {**ALLOC, "nested": 1}, FREE),
    ],
    ids=["missing", "allocated twice", "freed twice", "out of order", "another size",
         "another kind of memory", "another name", "another address", "a failure", "an inner call"],
)
def test_any_other_rows_are_wrong(rows):
    assert len(wrong(*rows)) >= 1


def test_a_driver_may_have_one_function_for_several_forms():
    rows = ({**ALLOC, "api": "cuMemAlloc"}, FREE)
    assert wrong(*rows) != [] and wrong(*rows, names="base") == []


def test_a_runtime_that_is_not_seen_leaves_the_drivers_names():
    rows = (ALLOC, FREE)
    assert wrong(*rows, names="driver") == []
    assert wrong({**ALLOC, "api": "cudaMalloc"}, FREE, names="driver") != []


def test_the_failed_call_that_ended_a_family_is_not_held_against_it():
    rows = (ALLOC, FREE, {**ALLOC, "address": 0, "result": 801})
    assert wrong(*rows) != [] and wrong(*rows, reason="not supported") == []


def test_a_programs_bytes_are_those_between_its_marks():
    begin, end = {**MARK, "text": "begin"}, {**MARK, "text": "end"}
    rows = [ALLOC, begin, {**ALLOC, "address": 9, "size_bytes": 100}, FREE, end, ALLOC]
    assert matrix.live_change([{"result": 0, **row} for row in rows]) == 100 - 64


# --- training ----------------------------------------------------------------------------------------

COUNTED = {"allocated_peak": 300 << 20, "reserved_peak": 400 << 20, "used": 900 << 20}


def test_a_card_is_found_among_the_simulated_by_its_name():
    assert training.preset("NVIDIA H100 80GB HBM3") == "h100" and training.preset("Tesla T4") == "t4"
    assert training.preset("NVIDIA A42") is None


def test_a_row_has_the_card_the_dry_run_and_how_far_they_are_apart():
    dry = {**COUNTED, "reserved_peak": 380 << 20}
    (row,) = training.table({"net": {"card": COUNTED, "dry": dry, "faults": []}})[2:]
    assert row.split() == ["net", "300.0", "300.0", "+0.0%", "400.0", "380.0", "-5.0%", "900.0", "900.0", "+0.0%", "right"]
    (row,) = training.table({"net": {"card": COUNTED, "dry": {"reason": "none"}, "faults": ["one"]}})[2:]
    assert row.split() == ["net", "300.0", "-", "400.0", "-", "900.0", "-", "WRONG"]


@pytest.mark.parametrize(
    "pool, unaccounted, count",
    [((300, 400), 0, 0), ((300, 402), 0, 1), ((298, 400), 0, 1), ((300, 400), 4096, 1)],
    ids=["right", "reserved", "allocated", "a ledger that does not close"],
)
def test_a_replay_that_is_not_what_pytorch_counted_is_a_fault(monkeypatch, pool, unaccounted, count):
    pages = {
        "report": {"pools": [{"name": "pytorch", "peak_live_bytes": pool[0] << 20, "peak_reserved_bytes": pool[1] << 20}]},
        "ledger": {"moments": [{"at": "peak", "unaccounted_bytes": unaccounted}]},
    }
    monkeypatch.setattr(training, "document", lambda command, trace: {"devices": [pages[command]]})
    assert len(training.faults(COUNTED, "trace.db")) == count
