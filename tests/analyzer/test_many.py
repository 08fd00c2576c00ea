# SPDX-License-Identifier: MIT
"""Traces with many rows of one kind, in the worst order. Reading must take O(n log n).

The limit of processor time is ten to fifty times the usual time; a command that takes O(n²) exceeds it."""
import resource
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, TIMEOUT_S
from support.tracefile import Trace

CPU_SECONDS = 100 if PRELOAD_FIRST else 10  # a sanitizer makes the commands ten times slower
MANY = 120_000


def limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def ranges_that_end_in_the_order_they_began(trace):
    trace.alloc(1)
    for number in range(MANY):
        trace.push("range", source=1, range_id=number + 1)
    for number in range(MANY):
        trace.pop(source=1, range_id=number + 1)


def pops_without_a_push_among_open_ranges(trace):
    for number in range(MANY // 2):
        trace.push("range", source=1, range_id=number + 1)
    for number in range(MANY // 2):
        trace.pop(source=1)


def contexts_with_a_block_each(trace):
    handles = range(0x1000, 0x1000 + MANY // 2)
    for handle in handles:
        trace.event("context-create", object=handle)
        trace.alloc(256, object=handle)
    for handle in handles:
        trace.event("context-destroy", object=handle)


def resets_of_the_primary_context_beside_others(trace):
    trace.rows["hook"].append((1, "cuCtxCreate_v2", "driver"))
    handles = range(0x1000, 0x1000 + MANY // 2)
    for handle in handles:
        trace.event("context-create", object=handle, hook=1, device=0)
        trace.alloc(256, object=handle)
    for handle in handles:
        trace.event("context-destroy", device=0)


def sparse_binds(trace):
    array = 0x9000
    trace.event("alloc", "array", address=array, size=1 << 40)
    for number in range(MANY // 2):
        trace.event("alloc", "vmm", address=0x10000 + number, size=1 << 21)
        trace.event("bind", "vmm", address=number << 21, size=1 << 21, object=0x10000 + number, stream=array)
    for number in range(MANY // 2):
        trace.event("unbind", "vmm", address=number << 21, size=1 << 21, stream=array)


def failures_with_much_alive(trace):
    for _ in range(5_000):
        trace.alloc(256)
    for _ in range(MANY // 4):
        trace.fail(1 << 40)
        trace.alloc(1)


KINDS = (
    ("phases", ranges_that_end_in_the_order_they_began),
    ("report", pops_without_a_push_among_open_ranges),
    ("report", contexts_with_a_block_each),
    ("report", resets_of_the_primary_context_beside_others),
    ("report", sparse_binds),
    ("frag", failures_with_much_alive),
)


@pytest.mark.parametrize("command, many", KINDS, ids=lambda value: getattr(value, "__name__", value))
def test_a_command_takes_no_step_for_each_pair(command, many, tmp_path):
    trace = Trace(tmp_path / "many.db")
    many(trace)
    completed = subprocess.run(
        [BUILD / "gpumemtrace", command, "--json", "-o", tmp_path / "out", trace.write()],
        preexec_fn=limit_cpu, timeout=TIMEOUT_S, capture_output=True, text=True,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
