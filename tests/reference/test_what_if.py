# SPDX-License-Identifier: MIT
"""Compares the answers of `frag --what-if`, about random runs of PyTorch's allocator under another setting, with a slow
model."""

import math
import os
import random

import pytest

from reference.allocator_model import GRANULE, MIB, Allocator, up
from reference.books import Books
from reference.comparing import ask, check_page, compare
from reference.figures import Figures
from support.tracefile import Trace

SEEDS = os.environ.get("GPUMEMTRACE_SEEDS", "50")
CHOSEN = [int(SEEDS[:-1])] if SEEDS.endswith(":") else list(range(int(SEEDS)))
AT_ONCE = 10
ROOM = 336 * MIB  # memory for the pool on the recorded card, without the context
SMALLER = 15102 * MIB  # memory of a T4, the next smaller card, of which 98 % are certain to be usable
SURE = SMALLER // 100 * 98
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
    """Returns [(action, number, size, stream)]. The number identifies an allocation, also in its free; for a capture it
    is the number of the graph. An allocation for a graph has the graph's number, which is at least GRAPHS, as its
    stream."""
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
    """Replays the script and returns (index of the refused entry or None, bytes live when the reserved memory was
    highest)."""
    blocks, live_at_peak = {}, 0
    for at, (what, number, size, stream) in enumerate(steps):
        if what in CAPTURES:
            CAPTURES[what](allocator, number)
        elif what == "empty":
            had = allocator.reserved
            allocator.empty_cache()
            if rows is not None:
                rows.append((had != allocator.reserved, None))
        elif what == "free":
            if number in blocks:
                allocator.free(blocks.pop(number))
        else:
            peak, block = allocator.peak, allocator.alloc(size, stream, stream if stream >= GRAPHS else None)
            live_at_peak = allocator.live if allocator.peak > peak else live_at_peak
            if block is None:
                return at, live_at_peak
            blocks[number] = block
            if rows is not None:
                rows.append((block.size, len(allocator.trace.events)))
    return None, live_at_peak


def total_bytes(steps, tightness):
    """Returns the size of the recorded card. It is chosen so that, on the next smaller card, the pool has `tightness`
    granules less than it takes if nothing is refused."""
    free = Allocator()
    run(free, steps)
    return SURE - free.peak + tightness * GRANULE + ROOM


def recorded(path, steps, oldest, tells_asked, tightness):
    """Writes the trace of the run. Returns (allocator, whether the run failed, the script as the trace tells it, the
    event of each entry). If the trace does not tell the requested sizes, this script has the sizes of the blocks. It
    lacks each empty_cache that gave nothing back."""
    trace, total = Trace(path), total_bytes(steps, tightness)
    trace.device(total_bytes=total)
    trace.rows["framework"] = [("torch", "2.15.0" if oldest else "2.6.0")]
    trace.device_memory(ROOM, total)
    allocator = Allocator(room=lambda: ROOM, total=total, trace=trace, oldest=oldest, tells_asked=tells_asked)
    rows = []
    failed, _ = run(allocator, steps, rows)
    trace.write()
    told, events = [], []
    for what, number, size, stream in steps:
        told.append((what, number, size, stream))
        events.append(None)
        if what != "free" and what not in CAPTURES:
            if not rows:
                told[-1], events[-1] = (what, number, trace.events[-1][7], stream), len(trace.events)
                break
            row, events[-1] = rows.pop(0)
            told[-1] = (what, number, up(size, 512) if tells_asked else row, stream) if what == "alloc" else told[-1]
            if not row:
                del told[-1], events[-1]
    return allocator, failed is not None, told, events


def whole(size):
    return -(-size // GRANULE) * GRANULE


# --- beside what is printed ---


def check_changes(path, allocator, failed, told, events, oldest):
    for change, settings in CHANGES.items():
        other = Allocator(room=lambda: ROOM, total=allocator.total, oldest=oldest, **settings)
        refused, live_at_peak = run(other, told)
        early = refused is not None and not (failed and refused == len(told) - 1)
        served = failed and refused is None
        wanted = {
            "setting": change, "replayed": True, "differs_at_seq": None, "difference": None, "estimated": True,
            "recorded_peak_reserved_bytes": allocator.peak, "peak_reserved_bytes": other.peak,
            "live_at_peak_bytes": live_at_peak, "idle_at_peak_bytes": other.peak - live_at_peak, "retries": other.retries,
            "failures_served": int(served), "failures_unknown": 0, "failures_left": int(failed and refused is not None and not early),
            "fails_at_seq": events[refused] if early else None, "fails_asking_bytes": told[refused][2] if early else None,
            "at_least": served or early,
        }  # fmt: skip
        page = ask("frag", path, f"--what-if={change}")
        yield from compare(page, {"devices": [{"device": 0, "what_if": wanted}]}, f"frag {change}")


def check_fit(path, total, failed, told, oldest):
    """Checks `fit`. Its row without retries must tell what is reserved if nothing is refused. Its row with retries must
    tell whether the next smaller card serves every request."""
    free, context = Allocator(total=total, oldest=oldest), total - ROOM
    run(free, told)
    card = {
        "retries": "none", "card_bytes": whole(free.peak + context), "pool_bytes": free.peak, "fits": True, "retry_count": 0,
        "memory_fraction": math.ceil(free.peak / total * 1e6) / 1e6,
    }  # fmt: skip
    rows = [card]
    if card["card_bytes"] > SURE:
        smaller = Allocator(room=lambda: SURE - context, total=total, oldest=oldest)
        served = run(smaller, told)[0] is None
        rows.append({"retries": "allowed", "card_bytes": SMALLER, "pool_bytes": None, "fits": served,
                     "retry_count": smaller.retries if served else None, "memory_fraction": None})  # fmt: skip
    wanted = {"device": 0, "context_bytes": context, "at_least": failed, "differs_at_seq": None, "fit": rows}
    page = ask("fit", path)
    yield from check_page(page, {"devices": [wanted]}, "fit", Figures(Books(path)), path)


def check_advice(path, allocator, failed, told, oldest):
    """Checks that expandable segments are advised if the idle memory would have been enough for the refused request but
    lay in pieces, and if as much was live before or a fifth is gained, and only then."""
    page = ask("oom", path)
    got = [row["gain_bytes"] for row in page["remedies"] if row["remedy"] == "expandable_segments"]
    other = Allocator(room=lambda: ROOM, total=allocator.total, oldest=oldest, expandable=True)
    served = run(other, told)[0] is None
    gain = allocator.peak + told[-1][2] - other.peak
    is_roomy = allocator.live + told[-1][2] <= allocator.most_live or gain >= (allocator.peak + told[-1][2]) // 5
    advised = failed and page["oom"][-1]["verdict"] == "fragmented" and served and is_roomy
    wanted = [gain if gain > 0 else None] if advised else []
    if got != wanted:
        yield f"oom: growing segments gain {got}, expected {wanted}"


def differences(path, seed):
    oldest = bool(seed % 2)
    allocator, failed, told, events = recorded(path, script(random.Random(seed)), oldest, seed % 4 < 2, seed % 20)
    yield from check_changes(path, allocator, failed, told, events, oldest)
    yield from check_fit(path, allocator.total, failed, told, oldest)
    yield from check_advice(path, allocator, failed, told, oldest)


@pytest.mark.parametrize("first", CHOSEN[::AT_ONCE])
def test_what_a_setting_would_have_held_is_what_a_slow_model_holds(tmp_path, first):
    found = []
    for seed in CHOSEN[CHOSEN.index(first) :][:AT_ONCE]:
        found += [f"seed {seed}: {text}" for text in differences(tmp_path / f"{seed}.db", seed)]
    assert not found, "\n".join(found[:20])
