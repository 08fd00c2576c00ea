# SPDX-License-Identifier: MIT
"""Adds the facts that a random trace has besides its events: the host's memory, durations of calls, facts about the
program, and which events happened inside other calls. It uses random numbers of its own, so that the events are the
same without it."""

import random

from support.tracefile import KINDS

CALLS = ("alloc", "free", "map", "unmap", "context-create")


def add_rest(trace, seed):
    choose, last = random.Random(f"{seed} rest"), trace.events[-1][1]
    if choose.random() < 0.5:
        add_host_memory(trace, choose)
    calls = [event for event in trace.events if KINDS[event[4]] in CALLS and event[10] is not None]
    if calls and choose.random() < 0.5:
        durations = {event[0]: choose.randint(500, 90_000) for event in choose.sample(calls, len(calls) // 2)}
        trace.rows["call_duration"] = sorted(durations.items())
    if choose.random() < 0.5:
        name_things(trace, choose, last)
    add_walks(trace, random.Random(f"{seed} walks"))
    for number in range(choose.choice([0, 0, 1, 4])):
        put_into_call(trace.events, choose, 60_000 + number)


CHAINS = ("losses[*]", "losses[*] -> graph", "model.weight", "main: batch", "")
HOLDERS = ("list", "graph", "module", "local", "cycle")


def add_walks(trace, choose):
    """Adds walks over Python's objects. Some of their storages lie in no live block, and some blocks hold several."""
    made = [event for event in trace.events if KINDS[event[4]] == "alloc" and not event[10] and event[6]]
    for number in range(1, choose.choice([0, 0, 1, 2, 5]) + 1 if made else 1):
        after = choose.choice([choose.choice(trace.events)[0], trace.events[-1][0], 0])
        trace.rows.setdefault("walk", []).append((number, after, choose.choice(["end", "oom", "growth"]), 9,
                                                    "time" if number == 2 else None))  # fmt: skip
        for event in choose.choices(made, k=choose.randint(0, 30)):
            chain, place = choose.randrange(len(CHAINS)), None
            if choose.random() < 0.5:
                place = (trace.string("main"), trace.string("keep.py"), choose.randint(1, 9))
                place = trace.locations.setdefault(place, len(trace.locations) + 1)
            trace.rows.setdefault("holder", []).append(
                (number, event[6] + choose.choice([0, 0, 512]), choose.choice([512, event[7]]), HOLDERS[chain],
                 trace.string(CHAINS[chain]), None, choose.choice([None, choose.randint(1, 99)]), place))  # fmt: skip


def add_host_memory(trace, choose):
    cgroup, limit = choose.choice([(None, None), (choose.randint(1, 9) << 30, choose.choice([None, 9 << 30]))])
    trace.host_memory(choose.randint(1, 9) << 28, cgroup, limit, 9 << 28, cgroup and choose.randint(9, 12) << 30)


def name_things(trace, choose, last):
    rows = trace.rows
    rows["coverage"] = [("cuMemFuture", choose.randint(1, 9)), ("cudaMallocNever", 1)]
    rows["framework"] = [("torch", "2.6.0"), ("cupy", "13.0")]
    rows["job_variable"] = [("SLURM_JOB_ID", "77")]
    rows["module"] = [(1, "/opt/lib/libtorch.so", "ab12", 0x1000, 0x1000, 0x2000)]
    rows["allocator_setting"] = [("backend", "native")]
    rows["device"] = [(row[0], f"GPU-{row[0]}", "H100", *row[3:]) for row in rows["device"]]
    trace.meta |= {"end_ns": last + 5, "rank": choose.randint(0, 7), "executable": "/usr/bin/python3", "simulated": 0}


def put_into_call(events, choose, call):
    """Puts an event inside the next call of its thread, as happens in an allocation. Sometimes puts it inside the call
    before, as happens in a free."""
    free = [i for i, event in enumerate(events) if KINDS[event[4]] in CALLS and not event[12]]
    inner = choose.choice(free or [None])
    outer = next((i for i in free if i > (inner or 0) and events[i][2] == events[inner][2]), None)
    if outer is None:
        return
    if choose.random() < 0.3:
        inner, outer = outer, inner
    for place, is_inner in ((inner, 1), (outer, 0)):
        events[place] = (*events[place][:12], call, is_inner, *events[place][14:])
