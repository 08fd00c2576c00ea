# SPDX-License-Identifier: MIT
"""Random runs of PyTorch's allocator, and what each would have held under another setting, beside a slow model."""

import os
import random

import pytest

from reference.allocator_model import MIB, Allocator
from support.run import load_json
from support.tracefile import Trace

SEEDS = os.environ.get("GPUMEMTRACE_SEEDS", "50")
CHOSEN = [int(SEEDS[:-1])] if SEEDS.endswith(":") else list(range(int(SEEDS)))
AT_ONCE = 10
TOTAL, CONTEXT = 400 * MIB, 64 * MIB
GRAPHS = 0x6000
CHANGES = {
    "expandable_segments": {"expandable": True},
    "no-cache": {"cached": False},
    "max_split_size=32MiB": {"max_split": 32 * MIB},
}


def sizes(choose):
    kind = choose.random()
    if kind < 0.4:
        return choose.randint(1, MIB)
    if kind < 0.8:
        return choose.randint(MIB + 1, 12 * MIB)
    return choose.randint(12 * MIB, 90 * MIB)


def script(choose):
    """[(what, which block, size, stream)]; frees name the allocation that they end, captures their graph. What a
    graph is to take, its stream tells: GRAPHS and more."""
    steps, live, graphs, open_graph = [], [], [], None
    for number in range(choose.randint(20, 200)):
        if open_graph is None and choose.random() < 0.02:
            open_graph = GRAPHS + number
            steps.append(("begin", open_graph, 0, 0))
        elif open_graph and choose.random() < 0.2:
            graphs.append(open_graph)
            steps.append(("end", open_graph, 0, 0))
            open_graph = None
        elif open_graph and choose.random() < 0.6:
            steps.append(("alloc", number, sizes(choose), open_graph))
            live.append(number)
        elif graphs and choose.random() < 0.05:
            steps.append(("destroy", graphs.pop(choose.randrange(len(graphs))), 0, 0))
        elif not open_graph and choose.random() < 0.04:
            steps.append(("empty", None, 0, 0))
        elif live and choose.random() < 0.45:
            steps.append(("free", live.pop(choose.randrange(len(live))), 0, 0))
        else:
            steps.append(("alloc", number, sizes(choose), choose.choice([0, 0, 0, 0xA1])))
            live.append(number)
    return steps


def begin(allocator, graph):
    allocator.graphs.add(graph)
    allocator.captures += 1
    if allocator.trace:
        allocator.trace.event("capture-begin", stream=graph, thread=2)


def end(allocator, graph):
    allocator.captures -= 1
    if allocator.trace:
        allocator.trace.event("capture-end", stream=graph, thread=2, object=graph)


def destroy(allocator, graph):
    allocator.graphs.remove(graph)
    if allocator.trace:
        allocator.trace.event("graph-destroy", object=graph)


CAPTURES = {"begin": begin, "end": end, "destroy": destroy}


def run(allocator, steps, rows=None):
    """Replays the steps until one is refused, which may happen only in a what-if; returns whether that was so."""
    blocks = {}
    for what, number, size, stream in steps:
        if what in CAPTURES:
            CAPTURES[what](allocator, number)
        elif what == "empty":
            had = allocator.reserved
            allocator.empty_cache()
            if rows is not None:
                rows.append(had != allocator.reserved)
        elif what == "free":
            if number in blocks:
                allocator.free(blocks.pop(number))
        else:
            block = allocator.alloc(size, stream, stream if stream >= GRAPHS else None)
            if block is None:
                return False
            blocks[number] = block
            if rows is not None:
                rows.append(block.size)
    return True


def recorded(path, steps, oldest):
    """The trace of the run, and the steps as the trace tells them: sizes are those of blocks, and an empty_cache
    that gave nothing back is not to be seen."""
    trace = Trace(path)
    trace.device(total_bytes=TOTAL)
    trace.rows["framework"] = [("torch", "2.15.0" if oldest else "2.6.0")]
    trace.device_memory(TOTAL - CONTEXT, TOTAL)
    allocator = Allocator(room=lambda: TOTAL - CONTEXT, total=TOTAL, trace=trace, oldest=oldest)
    rows = []
    completed = run(allocator, steps, rows)
    trace.write()
    told = []
    for what, number, size, stream in steps:
        if what == "free" or what in CAPTURES:
            told.append((what, number, size, stream))
        elif not rows:
            told.append((what, number, size, stream))
            break
        else:
            row = rows.pop(0)
            if what == "alloc":
                told.append((what, number, row, stream))
            elif row:
                told.append((what, number, size, stream))
    return allocator, completed, told


def differences(path, seed):
    choose = random.Random(seed)
    steps = script(choose)
    oldest = bool(seed % 2)
    allocator, completed, told = recorded(path, steps, oldest)
    for change, settings in CHANGES.items():
        (device,) = load_json("frag", path, f"--what-if={change}")["devices"]
        found = device["what_if"]
        other = Allocator(room=lambda: TOTAL - CONTEXT, total=TOTAL, oldest=oldest, **settings)
        served = run(other, told)
        wanted = {"replayed": True, "recorded_peak_reserved_bytes": allocator.peak, "peak_reserved_bytes": other.peak,
                  "retries": other.retries, "out_of_memory": not served}
        failed = found["fails_at_seq"] is not None or bool(found["failures_left"])
        got = {key: found.get(key) for key in wanted} | {"out_of_memory": failed}
        if got != wanted:
            yield f"seed {seed} {change} (completed {completed}): {got} is not {wanted}"


@pytest.mark.parametrize("first", CHOSEN[::AT_ONCE])
def test_what_a_setting_would_have_held_is_what_a_slow_model_holds(tmp_path, first):
    found = []
    for seed in CHOSEN[CHOSEN.index(first) :][:AT_ONCE]:
        found += differences(tmp_path / f"{seed}.db", seed)
    assert not found, "\n".join(found[:20])
