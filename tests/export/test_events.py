# SPDX-License-Identifier: MIT
"""Tests the export of all events as lines of CSV or TSV, which Python's csv module reads."""
import csv
import re

import pytest

from support.run import load_json
from support.tracefile import MIB, Trace


def rows_of(path, name):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, dialect="excel" if name == "csv" else "excel-tab"))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_every_event_has_a_line_with_what_was_live_after_it(made_trace, export, name):
    rows = rows_of(export(name, made_trace), name)
    assert [int(row["seq"]) for row in rows] == list(range(1, load_json("info", made_trace)["trace"]["events"] + 1))
    live = {"tensor": [0], "linear": [0]}
    sizes = {}
    for row in rows:
        if row["kind"] == "alloc" and row["result"] == "0":
            sizes[row["memory"], row["address"]] = int(row["bytes"])
            live[row["memory"]].append(live[row["memory"]][-1] + int(row["bytes"]))
        elif row["kind"] == "free":
            live[row["memory"]].append(live[row["memory"]][-1] - sizes.pop((row["memory"], row["address"])))
        if row["kind"] in ("alloc", "free") and row["memory"] == "tensor":
            assert int(row["live_bytes"]) == live["tensor"][-1]
    assert (max(live["tensor"]), live["tensor"][-1]) == (90 * MIB, 70 * MIB)


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_a_stack_is_a_collapsed_one(made_trace, export, name):
    stacks = [row["stack"] for row in rows_of(export(name, made_trace), name) if row["memory"] == "tensor" and row["kind"] == "alloc"]
    outside = "layer2 (model.py:12);layer1 (model.py:11);layer0 (model.py:10)"
    assert stacks[1:3] == [f"{outside};=1+1 (evil.py:1);malloc", f"{outside};a:b 7 (evil.py:2);malloc"]


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_no_cell_is_a_formula_or_controls_a_terminal(tmp_path, export, name):
    trace = Trace(tmp_path / "formulas.db")
    texts = ["=1+1", "+2", "-3", "@SUM(1)", "\t=4", '"quoted" text', "plain", "\x1b[31m"]
    for text in texts:
        with trace.phase(text):
            trace.alloc(1, stack=trace.stack(text))
    trace.write()
    data = export(name, trace.path).read_bytes().decode()
    cells = [value for row in rows_of(export(name, trace.path), name) for value in row.values()]
    assert not [cell for cell in cells if re.match(r"[=+\-@\t\r]", cell)]
    assert {"'=1+1", "'@SUM(1)", "plain", "?[31m"} <= set(cells)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", data)


def test_what_is_not_known_is_an_empty_cell(tmp_path, export):
    trace = Trace(tmp_path / "unknown.db")
    trace.alloc(1, device=None, result=None, stream=None)
    trace.write()
    (row,) = rows_of(export("csv", trace.path), "csv")
    assert {key for key, value in row.items() if not value} == {"call", "device", "stream", "result", "text", "live_bytes", "stack"}


def test_events_after_the_exit_are_left_out(tmp_path, export):
    trace = Trace(tmp_path / "ended.db")
    address = trace.alloc(9)
    trace.exit()
    trace.free(address, device=0)
    trace.write()
    assert [row["kind"] for row in rows_of(export("csv", trace.path), "csv")] == ["alloc", "exit"]


@pytest.mark.parametrize("options, kept", [(["--device=1"], {"linear"}), (["--layer=pool"], {"tensor"}), (["--layer=driver"], {"linear"})])
def test_a_device_and_a_layer_can_be_asked_for(made_trace, export, options, kept):
    assert {row["memory"] for row in rows_of(export("csv", made_trace, *options), "csv")} == kept
