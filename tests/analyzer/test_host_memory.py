# SPDX-License-Identifier: MIT
"""Host memory beside device memory: samples of the process and its cgroup, pinned memory, and kills by the kernel."""
import sqlite3
import sys

import pytest

from support.run import load_json, run_command
from support.tracefile import MIB, Trace

GIB = 1 << 30


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db")


# --- samples ---


def test_the_last_sample_and_the_highest_of_all_are_shown(trace):
    trace.alloc(MIB)
    trace.host_memory(100, 3 * GIB, 5 * GIB, 8 * GIB, cgroup_peak=6 * GIB)
    trace.host_memory(200, GIB, 2 * GIB, 8 * GIB, rss_peak=4 * GIB, cgroup_peak=6 * GIB)
    wanted = {
        "samples": 2, "last_time_ns": 200, "rss_bytes": GIB, "rss_peak_bytes": 4 * GIB, "cgroup_bytes": 2 * GIB,
        "cgroup_peak_bytes": 6 * GIB, "cgroup_limit_bytes": 8 * GIB,
    }  # fmt: skip
    trace.write()
    assert [load_json(command, trace.path)["host_memory"] for command in ("report", "ledger", "info")] == [wanted] * 3


def test_what_no_sample_says_is_unknown(trace):
    trace.alloc(MIB)
    trace.host_memory(100, GIB)
    host = load_json("info", trace.write())["host_memory"]
    assert host["rss_bytes"] == GIB
    assert host["cgroup_bytes"] is host["cgroup_peak_bytes"] is host["cgroup_limit_bytes"] is None


def test_a_trace_without_samples_says_nothing_of_the_host(trace):
    trace.alloc(MIB)
    host = load_json("report", trace.write())["host_memory"]
    assert host.pop("samples") == 0
    assert set(host.values()) == {None}
    assert "Memory of the host" not in run_command("report", trace.path).stdout


def test_a_trace_of_a_recorder_that_took_no_samples_opens(trace):
    trace.alloc(MIB)
    with sqlite3.connect(trace.write()) as database:
        database.execute("DROP TABLE host_memory")
    assert load_json("info", trace.path)["host_memory"]["samples"] == 0


def test_the_recorder_notes_how_much_the_program_took(record, tmp_path):
    script = tmp_path / "grow.py"
    script.write_text(
        "import ctypes\n"
        "held = bytearray(200 << 20)\n"
        "address = ctypes.c_void_p()\n"
        "assert not ctypes.CDLL('libcudart.so.12').cudaMalloc(ctypes.byref(address), 1 << 20)\n"
    )
    host = load_json("info", record(sys.executable, script).trace)["host_memory"]
    assert 200 * MIB <= host["rss_peak_bytes"] < 2 * GIB
    assert 0 < host["rss_bytes"] <= host["rss_peak_bytes"]


# --- the end ---


def warnings(trace):
    return load_json("info", trace.path if trace.path.exists() else trace.write())["warnings"]


def test_a_killed_program_near_its_cgroups_limit_may_have_been_killed_for_it(tmp_path):
    trace = Trace(tmp_path / "trace.db", complete=0)
    trace.alloc(MIB)
    trace.host_memory(100, 63 * GIB, 64 * GIB - 200 * MIB, 64 * GIB)
    assert (
        "the process ended when it took 63.00 GiB of the host's memory, and its cgroup 63.80 GiB of the 64.00 GiB that it "
        "may: the kernel's OOM killer may have ended it"
    ) in warnings(trace)


def test_a_killed_program_far_from_a_limit_is_not_called_so(tmp_path):
    trace = Trace(tmp_path / "trace.db", complete=0)
    trace.alloc(MIB)
    trace.host_memory(100, GIB, 2 * GIB, 64 * GIB)
    assert "the process ended when it took 1.00 GiB of the host's memory, and its cgroup 2.00 GiB of a limit of 64.00 GiB" in (
        warnings(trace)
    )


def test_a_program_that_ended_by_itself_has_no_such_warning(trace):
    trace.alloc(MIB)
    trace.host_memory(100, 63 * GIB, 64 * GIB - MIB, 64 * GIB)
    trace.exit()
    assert not any("host's memory" in text for text in warnings(trace))


def test_a_program_that_was_killed_leaves_a_sample(record, program):
    recording = record(program("dies_with_events"), check=False)
    info = load_json("info", recording.trace)
    assert info["host_memory"]["samples"] >= 1
    assert any(text.startswith("the process ended when it took ") for text in info["warnings"])


# --- pinned memory ---


def test_pinned_memory_is_shown_by_site_with_what_the_runtime_takes_for_it(trace):
    base = 0x7E0000000000
    trace.alloc(3 * MIB, "pinned", base, stack=trace.stack(("/home/me/train.py", 3, "load")))
    trace.alloc(512, "pinned", base + 4 * MIB)
    trace.alloc(512, "pinned", base + 4 * MIB + 4096)
    trace.alloc(5 * MIB + 1, "registered", base + 64 * MIB)
    (device,) = load_json("ledger", trace.write())["devices"]
    assert device["pinned_peak_bytes"] == 8 * MIB + 1 + 1024
    assert device["pinned_taken_bytes"] == 4 * MIB + 2 * MIB + 5 * MIB + 1
    assert sum(site["bytes"] for site in device["pinned_sites"]) == device["pinned_peak_bytes"]
    assert "train.py:3 load" in run_command("ledger", trace.path).stdout
