# SPDX-License-Identifier: MIT
"""For traces with very many items of one kind, the time of a command grows about linearly with their number. With any
--memory-limit, a command prints the whole answer or one line of error."""
import os
import subprocess

import pytest

from hostile.conftest import ALL
from support.endings import complaint, end_of
from support.run import BUILD, PRELOAD_FIRST, clean_environment
from support.tracefile import MIB, Trace

SMALL, MANY = 5_000, 40_000
LINES = [
    "report --json", "report", "peak", "timeline", "frag --segments --json", "phases", "leaks --json", "oom", "info",
    "check --max-peak=1GiB",
]  # fmt: skip
PLACE = 0x500000000


def ranges_that_end_in_the_order_they_began(trace, count):
    for number in range(count):
        trace.push(f"range {number % 100}", source=1, range_id=number + 1)
    trace.alloc(MIB)
    for number in range(count):
        trace.pop(source=1, range_id=number + 1)


def phases_inside_each_other(trace, count):
    for number in range(count):
        trace.push(f"p{number % 7}")
        if number % 16 == 0:
            trace.alloc(512)
    for _ in range(count):
        trace.pop()


def phases_of_many_names(trace, count):
    for number in range(count):
        with trace.phase(f"phase {number}"):
            trace.free(trace.alloc(512))


def phases_of_many_threads(trace, count):
    for number in range(count):
        with trace.phase("work", thread=number % 1000 + 1):
            trace.free(trace.alloc(512, thread=(number + 1) % 1000 + 1))


def sites(trace, count):
    for number in range(count):
        trace.alloc(MIB, stack=trace.stack(("model.py", number, f"f{number}"), ("train.py", number % 50, "main")))


def failures(trace, count):
    for number in range(count):
        trace.alloc(512)
        trace.fail(1 << 40)


def contexts(trace, count):
    for number in range(count):
        trace.event("context-create", object=0xC000 + number, device=0)
        trace.event("bind", object=0xC000 + number, device=0)
        trace.alloc(512)
    for number in range(count):
        trace.event("context-destroy", object=0xC000 + number, device=0)


def mappings_of_one_handle(trace, count):
    trace.alloc(2 * MIB, "vmm", address=0x77)
    for number in range(count):
        trace.map(0x77, PLACE + number * 4 * MIB, 2 * MIB)
    for number in range(count):
        trace.unmap(PLACE + number * 4 * MIB, 2 * MIB)


def binds_of_one_sparse_array(trace, count):
    trace.alloc(2 * MIB, "vmm", address=0x77)
    trace.alloc(count * 2 * MIB, "array", address=0xAB)
    for number in range(count):
        trace.event("bind", "vmm", number * 2 * MIB, 2 * MIB, object=0x77, stream=0xAB)
    for number in range(count):
        trace.event("unbind", "none", number * 2 * MIB, 2 * MIB, stream=0xAB)


def one_address_again_and_again(trace, count):
    for number in range(count):
        trace.alloc(512 * (number % 9 + 1), address=PLACE)


def frees_of_nothing(trace, count):
    for number in range(count):
        trace.free(PLACE + number * 512)


def segments_with_holes(trace, count):
    for number in range(count // 4):
        segment = trace.alloc(2 * MIB)
        for place in range(3):
            trace.tensor(segment + place * 4096, 512 * (place + 1))
        trace.tensor_free(segment)


def pools_of_the_driver(trace, count):
    for number in range(count // 2):
        trace.event("pool-create", object=0xA000 + number, device=0)
        trace.pool_usage(0xA000 + number, 512, 1024)


def modules_that_overlap(trace, count):
    for number in range(1, count // 4):
        trace.rows["module"].append((number, f"/lib/{number}.so", None, 0, number, number + count))
        trace.alloc(512, stack=trace.stack(number + 7))


def steps_and_leaks(trace, count):
    for number in range(count // 2):
        trace.step(number)
        trace.alloc(512, stack=trace.stack(("leak.py", number % 3, "step")))


SHAPES = [
    ranges_that_end_in_the_order_they_began, phases_inside_each_other, phases_of_many_names, phases_of_many_threads, sites,
    failures, contexts, mappings_of_one_handle, binds_of_one_sparse_array, one_address_again_and_again, frees_of_nothing,
    segments_with_holes, pools_of_the_driver, modules_that_overlap, steps_and_leaks,
]  # fmt: skip
each_shape = pytest.mark.parametrize("shape", SHAPES if ALL else SHAPES[::5], ids=lambda shape: shape.__name__)


def made(folder, shape, count):
    trace = Trace(folder / f"{count}.db")
    shape(trace, count)
    return trace.write()


def processor_seconds(line, path):
    """Returns the CPU seconds of the command, which do not depend on the machine's load."""
    name, *options = line.split()
    process = subprocess.Popen(
        [BUILD / "gpumemtrace", name, *options, path], env=clean_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.stderr.close()
    assert os.waitstatus_to_exitcode(status) in (0, 1), (line, said)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer takes its own time")
@each_shape
def test_eight_times_as_many_take_about_eight_times_as_long(tmp_path, effort, shape):
    """The bound is 16 times the time plus 0.1 s for constant work, because a quadratic algorithm would take 64 times.
    The test fails only if all three pairs exceed the bound: on a busy machine caches are shared, so one run may be
    slow."""
    small, many = effort(SMALL // 20, SMALL), effort(MANY // 20, MANY)
    few, more = made(tmp_path, shape, small), made(tmp_path, shape, many)
    wrong = []
    for line in effort(LINES[:1], LINES):
        pairs = ((processor_seconds(line, few), processor_seconds(line, more)) for _ in range(3))
        if all(long > 16 * short + 0.1 for short, long in pairs):
            wrong.append(f"{line}: {small} and {many} of them")
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own memory is larger")
@each_shape
def test_with_any_limit_of_memory_there_is_the_whole_answer_or_one_line(tmp_path, effort, chance, shape):
    path = made(tmp_path, shape, effort(200, 5000))
    wrong = []
    for line in chance.sample(LINES, effort(1, 4)):
        name, *options = line.split()
        whole = end_of([BUILD / "gpumemtrace", name, *options, path], env=clean_environment())
        for _ in range(effort(2, 10)):
            limit = f"--memory-limit={int(2 ** chance.uniform(13, 24))}"
            ending = end_of([BUILD / "gpumemtrace", name, limit, *options, path], env=clean_environment())
            said = complaint(ending)
            if said or ending.status != 2 and ending.stdout != whole.stdout:
                wrong.append(f"{line} {limit}: {said or 'another answer'}")
            if ending.status == 2 and (ending.stdout or "--memory-limit" not in ending.stderr):
                wrong.append(f"{line} {limit}: {ending.stderr}{ending.stdout[:200]}")
    assert not wrong, "\n".join(wrong)
