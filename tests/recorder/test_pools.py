# SPDX-License-Identifier: MIT
"""The recorder sees the reports of pools: those made through the public header, and those made through the functions of
c10 that PyTorch's allocator calls. Libraries with the same names stand in for PyTorch here."""
import re
import subprocess
import sys

import pytest

from support.run import PRELOAD_FIRST, ROOT, TIMEOUT_S, compile_library

MIB = 1 << 20

# A stand-in for libc10. It counts the calls, and it distinguishes calls by another library from its own calls.
C10 = """
#include <stdint.h>
struct device {{ int8_t type, index; }};
int calls;
void {usage}(void *p, long size{totals}, struct device d) {{ calls += d.type * 10 + (size > 0); }}
void {failure}(long size, unsigned long a, unsigned long r, struct device d) {{ calls += 1000; }}
int c10_calls(void) {{ return calls; }}
"""

# A stand-in for the allocator. It makes one segment, one tensor in this segment, one tensor that fails for lack of
# memory, and a report of CPU memory.
C10_CUDA = """
#include <stdint.h>
struct device {{ int8_t type, index; }};
void {usage}(void *p, long size{totals}, struct device d);
void {failure}(long size, unsigned long a, unsigned long r, struct device d);
int cudaMalloc(void **p, unsigned long bytes);
int c10_calls(void);
int run(void)
{{
    struct device cpu = {{0, -1}}, cuda = {{1, 0}};
    char *segment;
    if (cudaMalloc((void **)&segment, 20 << 20))
        return -1;
    {usage}(segment, 64{zeros}, cpu);
    {usage}(segment, 3 << 20{zeros}, cuda);
    {usage}(segment + (3 << 20), 1 << 20{zeros}, cuda);
    {usage}(segment, -(3 << 20){zeros}, cuda);
    {failure}(1L << 40, 0, 0, cuda);
    return c10_calls();
}}
"""

USAGE = {
    "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE": ", unsigned long a, unsigned long r",
    "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE": ", long a, long r",
    "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE": "",
}
FAILURES = [f"_ZN3c1027reportOutOfMemoryToProfilerE{sizes}NS_6DeviceE" for sizes in ("lmm", "lll", "mmm")]


@pytest.fixture
def fake_pytorch(tmp_path, build, program):
    """Returns a function: fake_pytorch(usage, failure) returns a program and its argument. The program opens stand-ins
    for libc10 and libc10_cuda, whose two reporting functions have these signatures."""

    def make(usage, failure):
        totals = USAGE[usage]
        words = {"usage": usage, "failure": failure, "totals": totals, "zeros": ", 0, 0" if totals else ""}
        c10 = compile_library(
            tmp_path / "libc10.so", C10.format(**words), "-w", "-Wl,-soname,libc10.so"
        )
        cuda = compile_library(
            tmp_path / "libc10_cuda.so", C10_CUDA.format(**words), c10,
            build / "simulator/libcudart.so.12", "-w", "-Wl,-rpath,$ORIGIN",
        )  # fmt: skip
        return program("plugins"), f"local:{cuda}:run"

    return make


@pytest.mark.parametrize("usage, failure", [*zip(USAGE, FAILURES)])
def test_pytorchs_reports_are_events_and_reach_c10_in_every_form(fake_pytorch, record, usage, failure):
    recording = record(*fake_pytorch(usage, failure), check=False)
    assert recording.completed.stdout == "run 1033\n"  # 1033 is 1 for the CPU plus 11, 11, 10 and 1000
    rows = recording.rows(
        "SELECT kind, size_bytes, result, device, stack_id IS NOT NULL, string.text FROM event"
        " JOIN string ON string_id = object WHERE memory = 10 ORDER BY seq"
    )
    assert rows == [
        (1, 3 * MIB, 0, 0, 1, "pytorch"),
        (1, 1 * MIB, 0, 0, 1, "pytorch"),
        (2, 0, 0, 0, 0, "pytorch"),
        (1, 1 << 40, 2, 0, 1, "pytorch"),
    ]


def test_without_the_recorder_c10_gets_the_same_calls(fake_pytorch, sim_env):
    completed = subprocess.run(
        fake_pytorch(next(iter(USAGE)), FAILURES[0]), env=sim_env(), capture_output=True, text=True,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    assert completed.stdout == "run 1033\n"


def test_the_pool_leads_and_the_driver_stands_beside_it(fake_pytorch, record):
    device = record(*fake_pytorch(next(iter(USAGE)), FAILURES[0]), check=False).report()["devices"][0]
    assert device["leading_layer"] == "pool"
    [pool] = device["pools"]
    expected = {"name": "pytorch", "peak_live_bytes": 4 * MIB, "peak_reserved_bytes": 20 * MIB,
                "live_at_exit_bytes": 1 * MIB, "allocations": 2, "frees": 1, "failed": 1}
    assert pool | expected == pool
    assert device["driver"]["peak_bytes"] == 20 * MIB
    assert device["driver"]["failed"] == 0


def test_the_line_at_exit_counts_the_drivers_memory_once(fake_pytorch, record):
    recording = record(*fake_pytorch(next(iter(USAGE)), FAILURES[0]), check=False)
    assert recording.completed.stderr.startswith("gpumemtrace: peak 20.00 MiB on device 0; see: ")


def test_a_pool_that_reports_through_the_header_is_seen_piece_by_piece(record, sample):
    device = record(sample("pool")).report()["devices"][0]
    [pool] = device["pools"]
    expected = {"name": "rmm", "peak_live_bytes": 64 * MIB, "peak_reserved_bytes": 64 * MIB,
                "live_at_exit_bytes": 32 * MIB, "allocations": 16, "frees": 8, "failed": 1}
    assert pool | expected == pool
    assert device["driver"]["allocations"] == 1
    functions = {frame["function"] for site in device["sites_at_peak"] for frame in site["frames"]}
    assert "pool_allocate" in functions


def test_a_pools_holes_explain_its_failure(record, sample):
    [failure] = record(sample("pool")).report()["oom"]
    assert failure["layer"] == "pool"
    assert failure["verdict"] == "fragmented"


NAMES = """
import ctypes
library = ctypes.CDLL(None)
for name in (b"a", b"b", b"a", b"", None, b"a pool with a name of many letters", b"a"):
    library.gpumemtrace_pool_alloc(name, 0, ctypes.c_void_p(4096), ctypes.c_size_t(512))
"""


def test_each_piece_bears_the_name_of_its_own_pool(record):
    recording = record(sys.executable, "-c", NAMES)
    rows = recording.rows(
        "SELECT string.text FROM event LEFT JOIN string ON string_id = object WHERE memory = 10 ORDER BY seq"
    )
    names = ["a", "b", "a", "", None, "a pool with a name of many letters", "a"]
    assert [name for name, in rows] == names


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer keeps memory that was freed")
def test_two_million_events_of_a_pool_take_little_memory_and_under_60_bytes_each(record, program, sim_env):
    events = 2_000_000
    command = [program("pool_events"), str(events)]
    plain = subprocess.run(command, env=sim_env(), capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    # Events that the writer has not stored yet are in the ring. On a busy machine the ring grows up to its limit.
    recording = record(*command, GPUMEMTRACE_RING_MAX="32MiB")
    assert recording.rows("SELECT count(*) FROM event WHERE memory = 10") == [(events,)]
    assert recording.trace.stat().st_size < 60 * events
    added = [int(ours) - int(base) for ours, base in
             zip(recording.completed.stdout.split(), plain.stdout.split(), strict=True)]
    assert max(added) < 64 * MIB, added


# Stand-ins for RMM and CuPy. They have only the functions that the examples in the manual use. Their pool has 1 GiB and
# returns ascending addresses.
STAND_INS = """
import contextlib, ctypes, types
assert ctypes.CDLL("libcudart.so.12").cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 30)) == 0
class Pool:
    def __init__(self, upstream):
        self.next = 1 << 40
    def allocate(self, size, stream):
        if size > 1 << 30:
            raise MemoryError
        self.next += size
        return self.next - size
    def deallocate(self, address, size, stream):
        pass
chosen = []
rmm = types.SimpleNamespace(mr=types.SimpleNamespace(
    PoolMemoryResource=Pool, CudaMemoryResource=lambda: None, set_current_device_resource=chosen.append,
    CallbackMemoryResource=lambda allocate, deallocate: (allocate, deallocate)))
cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(MemoryHook=contextlib.nullcontext))
"""

USES = """
allocate, deallocate = chosen[0]
first = allocate(4096, 0)
with contextlib.suppress(MemoryError):
    allocate(1 << 31, 0)
deallocate(first, 4096, 0)
hook = Report()
hook.malloc_postprocess(device_id=0, size=24, mem_size=512, mem_ptr=1 << 41, pmem_id=7)
hook.free_preprocess(device_id=0, mem_size=512, mem_ptr=1 << 41, pmem_id=7)
hook.malloc_postprocess(device_id=0, size=1 << 31, mem_size=1 << 31, mem_ptr=0, pmem_id=0)
"""


def test_what_the_manual_shows_for_rmm_and_cupy_reports_pieces_ends_and_failures(record, tmp_path):
    manual = (ROOT / "analyzer/man/gpumemtrace.1").read_text(encoding="utf-8")
    shown = re.findall(r"^\.EX\n(.*?)^\.EE$", manual.partition("From Python, for RMM")[2], re.MULTILINE | re.DOTALL)
    script = tmp_path / "script.py"
    script.write_text(STAND_INS + shown[0] + shown[1] + USES)
    rows = record(sys.executable, script).rows(
        "SELECT string.text, kind, address, size_bytes, result FROM event JOIN string ON string_id = object"
        " WHERE memory = 10 ORDER BY seq"
    )
    assert rows == [
        ("rmm", 1, 1 << 40, 4096, 0), ("rmm", 1, 0, 1 << 31, 2), ("rmm", 2, 1 << 40, 0, 0),
        ("cupy", 1, 1 << 41, 512, 0), ("cupy", 2, 1 << 41, 0, 0), ("cupy", 1, 0, 1 << 31, 2),
    ]  # fmt: skip
