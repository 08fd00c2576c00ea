# SPDX-License-Identifier: MIT
"""Checks that `report` says which rows it leaves out, and that other commands show these rows."""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace

MOST, SITES = 200, 230


@pytest.fixture
def many(tmp_path):
    """A trace of sites with different sizes, which are all live to the end. One helper allocates them for many
    callers."""
    trace = Trace(tmp_path / "many.db")
    for number in range(SITES):
        caller = ("model.py", number, f"f{number}")
        trace.alloc((number + 1) * MIB, stack=trace.stack(("helper.py", 3, "take"), caller, ("train.py", 7, "main")))
    return trace.write()


LISTS = pytest.mark.parametrize(
    "command, table, where, key",
    [
        ("peak", lambda page: page["devices"][0]["sites"], lambda page: page["devices"][0], "sites_at_peak"),
        ("leaks", lambda page: page["devices"][0]["leaks"]["live_at_exit"], lambda page: page["leaks"][0], "live_at_exit"),
    ],
)  # fmt: skip


@LISTS
def test_a_report_has_the_largest_sites_and_says_what_it_leaves_out(many, command, table, where, key):
    found, whole = where(load_json("report", many)), table(load_json(command, many))
    assert len(whole) == SITES and len(found[key]) == MOST
    left_bytes = sum(row["bytes"] for row in whole[MOST:])
    assert found[f"{key}_left_out"] == [
        {"layer": "driver", "pool": None, "sites_count": SITES - MOST, "bytes": left_bytes, "command": f"gpumemtrace {command}"}
    ]


@LISTS
def test_a_site_reads_in_a_report_as_in_the_whole_list(many, command, table, where, key):
    found, whole = where(load_json("report", many))[key], table(load_json(command, many))
    assert found == whole[:MOST] and found[0]["site"] == f"model.py:{SITES - 1} f{SITES - 1}"


@LISTS
def test_a_report_has_as_many_sites_as_are_asked_for(many, command, table, where, key):
    found = where(load_json("report", "--top=220", many))
    assert len(found[key]) == 220 and [row["sites_count"] for row in found[f"{key}_left_out"]] == [SITES - 220]
    found = where(load_json("report", f"--top={SITES}", many))
    assert len(found[key]) == SITES and found[f"{key}_left_out"] == []


def test_each_layer_has_its_largest_sites(tmp_path):
    trace = Trace(tmp_path / "layers.db")
    segment = trace.alloc(2 * MIB, stack=trace.stack(("pool.py", 1, "grow")))
    for number in range(MOST + 1):
        trace.tensor(segment + number * 1024, 512, stack=trace.stack(("model.py", number, "forward")))
    (device,) = load_json("report", trace.write())["devices"]
    assert [row["layer"] for row in device["sites_at_peak"]] == ["pool"] * MOST + ["driver"]
    assert [(row["layer"], row["sites_count"], row["bytes"]) for row in device["sites_at_peak_left_out"]] == [("pool", 1, 512)]


def test_a_report_has_the_last_failure_and_counts_the_others(tmp_path):
    trace = Trace(tmp_path / "failures.db")
    for size in (1 << 40, 2 << 40, 3 << 40):
        trace.alloc(MIB)
        trace.fail(size)
    path = trace.write()
    report, whole = load_json("report", path), load_json("oom", path)["oom"]
    assert [row["asked_bytes"] for row in whole] == [1 << 40, 2 << 40, 3 << 40]
    assert report["oom"] == whole[2:]
    assert report["oom_left_out"] == [{"failures_count": 2, "command": "gpumemtrace oom"}]


def test_failures_of_other_devices_are_not_counted(tmp_path):
    trace = Trace(tmp_path / "failures.db")
    for device in (0, 1, 1):
        trace.alloc(MIB, device=device)
        trace.fail(1 << 40, device=device)
    path = trace.write()
    left_out = [load_json("report", f"--device={device}", path)["oom_left_out"] for device in (0, 1)]
    assert left_out == [[], [{"failures_count": 1, "command": "gpumemtrace oom"}]]


def test_of_very_many_failures_all_but_the_last_are_counted(tmp_path):
    trace = Trace(tmp_path / "failures.db")
    for _ in range(250):
        trace.alloc(MIB)
        trace.fail(1 << 40)
    assert load_json("report", trace.write())["oom_left_out"][0]["failures_count"] == 249


def test_a_report_that_leaves_nothing_out_says_so(tmp_path):
    trace = Trace(tmp_path / "small.db")
    trace.alloc(MIB)
    trace.fail(1 << 40)
    report = load_json("report", trace.write())
    assert report["devices"][0]["sites_at_peak_left_out"] == report["leaks"][0]["live_at_exit_left_out"] == []
    assert report["oom_left_out"] == [] and len(report["oom"]) == 1
