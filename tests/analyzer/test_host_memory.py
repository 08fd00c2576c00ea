# SPDX-License-Identifier: MIT
"""Host memory beside device memory: the memory that the process and its cgroup used, pinned memory, and kills by the
kernel."""
import sqlite3
import sys

import pytest

from support.run import load_json, run_command
from support.tracefile import MIB, Trace

GIB = 1 << 30


# --- the last values and the highest ---

FIGURES = ("rss_bytes", "rss_peak_bytes", "cgroup_bytes", "cgroup_peak_bytes", "cgroup_limit_bytes")


def test_the_last_values_and_the_highest_are_shown(trace):
    trace.alloc(MIB)
    trace.host_memory(GIB, 2 * GIB, 8 * GIB, rss_peak=4 * GIB, cgroup_peak=6 * GIB)
    trace.write()
    wanted = dict(zip(FIGURES, (GIB, 4 * GIB, 2 * GIB, 6 * GIB, 8 * GIB)))
    assert [load_json(command, trace.path)["host_memory"] for command in ("report", "ledger")] == [wanted] * 2
    assert wanted.items() <= load_json("info", trace.path)["meta"].items()


def test_what_the_trace_does_not_say_is_unknown(trace):
    trace.alloc(MIB)
    trace.host_memory(GIB)
    assert list(load_json("report", trace.write())["host_memory"].values()) == [GIB, GIB, None, None, None]


def test_a_trace_without_these_values_says_nothing_of_the_host(trace):
    trace.alloc(MIB)
    assert load_json("report", trace.write())["host_memory"] == dict.fromkeys(FIGURES)
    assert "Memory of the host" not in run_command("report", trace.path).stdout


@pytest.mark.parametrize("peaks, highest", [((6 * GIB, 7 * GIB), 7 * GIB), ((None, None), 5 * GIB)])
def test_the_samples_of_a_trace_of_0_1_0_are_read_by_their_last_and_highest(trace, peaks, highest):
    trace.alloc(MIB)
    columns = "sample INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, rss_bytes INTEGER NOT NULL, rss_peak_bytes INTEGER NOT NULL"
    rows = [(0, 100, 3 * GIB, 3 * GIB, 5 * GIB, peaks[0], 8 * GIB), (4, 200, GIB, 4 * GIB, 2 * GIB, peaks[1], 8 * GIB)]
    with sqlite3.connect(trace.write()) as database:
        database.execute(f"CREATE TABLE host_memory ({columns}, {', '.join(f'{key} INTEGER' for key in FIGURES[2:])})")
        database.executemany("INSERT INTO host_memory VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    wanted = dict(zip(FIGURES, (GIB, 4 * GIB, 2 * GIB, highest, 8 * GIB)))
    assert load_json("report", trace.path)["host_memory"] == wanted


def test_the_recorder_notes_how_much_the_program_took(record, tmp_path):
    script = tmp_path / "grow.py"
    script.write_text(
        "import ctypes\n"
        "held = bytearray(200 << 20)\n"
        "address = ctypes.c_void_p()\n"
        "assert not ctypes.CDLL('libcudart.so.12').cudaMalloc(ctypes.byref(address), 1 << 20)\n"
    )
    host = load_json("report", record(sys.executable, script).trace)["host_memory"]
    assert 200 * MIB <= host["rss_peak_bytes"] < 2 * GIB
    assert 0 < host["rss_bytes"] <= host["rss_peak_bytes"]


# --- the end ---


def warnings(trace):
    return load_json("info", trace.written())["warnings"]


def test_a_killed_program_near_its_cgroups_limit_may_have_been_killed_for_it(tmp_path):
    trace = Trace(tmp_path / "trace.db", complete=0)
    trace.alloc(MIB)
    trace.host_memory(63 * GIB, 64 * GIB - 200 * MIB, 64 * GIB)
    assert (
        "the process ended when it took 63.00 GiB of the host's memory, and its cgroup 63.80 GiB of the 64.00 GiB that it "
        "may: the kernel's OOM killer may have ended it"
    ) in warnings(trace)


def test_a_killed_program_far_from_a_limit_is_not_called_so(tmp_path):
    trace = Trace(tmp_path / "trace.db", complete=0)
    trace.alloc(MIB)
    trace.host_memory(GIB, 2 * GIB, 64 * GIB)
    assert "the process ended when it took 1.00 GiB of the host's memory, and its cgroup 2.00 GiB of a limit of 64.00 GiB" in (
        warnings(trace)
    )


def test_a_program_that_ended_by_itself_has_no_such_warning(trace):
    trace.alloc(MIB)
    trace.host_memory(63 * GIB, 64 * GIB - MIB, 64 * GIB)
    trace.exit()
    assert not any("host's memory" in text for text in warnings(trace))


def test_a_program_that_was_killed_leaves_its_last_values(record, program):
    recording = record(program("dies_with_events"), check=False)
    info = load_json("info", recording.trace)
    assert 0 < info["meta"]["rss_bytes"] <= info["meta"]["rss_peak_bytes"]
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


# --- pinned memory in the first lines ---


def pin(trace, sizes, card=MIB * 128, function="at::CachingHostAllocatorImpl<c10::cuda::CUDAStream>::allocate"):
    """Pins blocks as PyTorch's allocator for the host does, beside a block on the card."""
    trace.name(0x5000, (None, None, function))
    trace.alloc(card, stack=trace.stack(("train.py", 13, "main")))
    for size in sizes:
        trace.alloc(size, "pinned", stack=trace.stack(0x5000, ("train.py", 10, "main")))
    return trace


def pinned_lines(trace):
    return [text for text in load_json("report", trace.write())["answer"] if "inned" in text]


PINNED = "Pinned host memory peaked at 1.00 GiB, most of it by train.py:10 main (1.00 GiB)"
ROUNDED = "PyTorch rounds such requests up to powers of two, so up to half of it may be rounding"
WAY_OUT = ("If the tensors are smaller, cut them from one pinned buffer of a power of two, or pin their own memory with "
           "cudaHostRegister")  # fmt: skip


@pytest.mark.parametrize("version, setting", [
    ("2.12.1", ""), ("2.13.0", ", or set PYTORCH_ALLOC_CONF=pinned_max_round_threshold_mb:1"), (None, ""),
])  # fmt: skip
def test_much_pinned_memory_is_said_with_its_line_and_the_rounding(trace, version, setting):
    if version:
        trace.rows["framework"] = [("torch", version)]
    assert pinned_lines(pin(trace, [256 * MIB] * 4)) == [f"{PINNED}; {ROUNDED}.", WAY_OUT + setting + "."]
    assert load_json("report", trace.path)["next"] == f"gpumemtrace ledger {trace.path}"


def test_rounding_is_not_blamed_where_a_block_has_another_size(trace):
    assert pinned_lines(pin(trace, [256 * MIB] * 3 + [255 * MIB, MIB])) == [PINNED + "."]


def test_rounding_is_not_blamed_for_blocks_that_pytorch_did_not_allocate(trace):
    assert pinned_lines(pin(trace, [256 * MIB] * 4, function="staging::allocate")) == [PINNED + "."]


def test_a_staging_buffer_that_is_small_beside_the_cards_peak_is_not_said(trace):
    assert pinned_lines(pin(trace, [256 * MIB], card=GIB)) == []


def test_pinned_memory_is_not_said_of_the_drivers_layer_alone(trace):
    pin(trace, [256 * MIB]).write()
    assert "Pinned" not in run_command("report", "--layer=driver", trace.path).stdout.split("\n\n")[0]
