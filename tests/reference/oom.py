# SPDX-License-Identifier: MIT
"""Computes why an allocation failed: the evidence and the verdict, as doc/ and analyzer/oom/oom.h define them. All
numbers come from Figures."""

import functools

from reference import holders, outside
from reference.blame import Labels, called, headed, label, stacks_of
from reference.frag_model import held_at, holes, joined
from reference.ledger import Ledger

MIB = 1 << 20
GRANULE = 2 * MIB
CONTEXT_MOST = 1 << 30
SITES = 10  # most sites that are shown
HELD = ("sites", "outside_sites", "graph_sites")


def idle_parts(figures, account, index):
    """Yields (free bytes, largest piece, free bytes that are pinned, stream, whether a graph owns it) of each segment."""
    live, pieces = figures.live_blocks(account, index), held_at(figures, account, index)
    for start, end, _, stream, owned in joined(pieces, figures.graphs, index):
        inside = [r for r in pieces if start <= r.address < end]
        pinned = [r for r in inside if any(r.overlaps(b.address, b.size) for b in live)]
        stranded = sum(sum(holes(r.address, r.address + r.size, live)) for r in pinned)
        begun = [b for b in live if start <= b.address < end]
        yield sum(holes(start, end, live)), max(holes(start, end, begun)), stranded, stream, owned


def weigh_pools(figures, failure, account, found):
    """Adds to `found` the idle bytes of the pool's free memory, and the stream that can use that memory."""
    index, stream = failure.event.index, failure.event.stream
    parts = list(idle_parts(figures, account, index)) if account[1] == "pool" else []
    idle = [part for part in parts if not part[4]]
    others = [part for part in idle if failure.account[1] == "pool" and None not in (stream, part[3]) and part[3] != stream]
    if found["reserved_bytes"] is None:
        idle = others = []
    found["graph_bytes"] = sum(part[0] for part in parts if part[4])
    found["other_stream_bytes"] = sum(part[0] for part in others)
    found["other_stream_hole_bytes"] = max((part[1] for part in others), default=0)
    found["whole_bytes"] = sum(part[0] - part[2] for part in idle)
    if account[1] == "pool" and found["reserved_bytes"] is not None:
        found["largest_hole_bytes"] = max((part[1] for part in idle), default=0)


def event_is_of_drivers_pool(failure, found):
    return failure.event.memory == "stream-ordered" and not found["has_pool"]


def asked_idle(figures, failure, idle):
    """Returns the idle bytes of the driver's pool that was asked. If its handle is unknown, it may be any of them."""
    event, books = failure.event, figures.books
    if "stream-ordered" not in (event.memory, *(call.memory for call in failure.calls[:4])):
        return 0
    if event.memory != "stream-ordered" or not event.object:
        return idle
    pool = next((pool for pool in reversed(books.mempools) if not pool.is_graph and pool.handle == event.object), None)
    reports = [kept for when, _, kept in pool.reports if when <= event.index] if pool else []
    live = sum(block.size for block in figures.live_blocks((failure.account[0], "device", 0), event.index) if block.mempool is pool)
    return min(max(reports[-1] - live, 0), idle) if reports else 0


def terms(figures, failure, found):
    """Returns rows that count each byte of the card once, and adds some of their figures to `found`."""
    device, index = failure.account[0], failure.event.index
    ledger = Ledger(figures, device, index)

    def of(*owners):
        return sum(bytes_ for (owner, _), (bytes_, _) in ledger.terms.items() if owner in owners)

    found["outside_bytes"], found["mempools_bytes"] = of("library", "program", "unknown"), of("mempools")
    found["graphs_idle_bytes"] = of("graphs_idle")
    found["asked_idle_bytes"] = asked_idle(figures, failure, found["mempools_bytes"])
    if not found["has_pool"] and found["reserved_bytes"] is not None:
        found["idle_bytes"] = of("mempools", "graphs_idle", "rounding")
        found["largest_hole_bytes"] = min(found["largest_hole_bytes"], found["idle_bytes"])
    if event_is_of_drivers_pool(failure, found) and found["mempools_bytes"]:
        found["largest_hole_bytes"] = None  # the trace tells only the sum of the driver's pool
    found["unlisted_bytes"] = max(ledger.beyond or 0, 0) if ledger.told else None
    found["told"] = ledger.told
    found["managed_bytes"] = live_bytes(figures, (device, "managed", 0), index)
    if ledger.source != "card" or not ledger.total or ledger.used > ledger.total:
        return []
    looked = of("context")
    is_raised = any(block.memory == "limit" for block in figures.live_blocks((device, "context", 0), index))
    context = looked if is_raised else min(looked, CONTEXT_MOST)
    rows = [
        ("live", of("pool_live"), "counted"),
        ("idle", of("pool_cached", "mempools", "graphs_idle"), "counted"),
        ("graphs", of("pool_graphs", "graphs"), "counted"),
        ("libraries", of("library"), "counted"),
        ("program", of("program", "unknown"), "counted"),
        ("rounding", of("rounding"), "assumed"),
        ("modules", of("modules"), "difference"),
        ("context", context, "difference" if looked == context else "assumed"),
        ("others", looked - context, "assumed"),
        ("growth_or_others", ledger.beyond, "difference"),
    ]
    if ledger.told:
        rows[-3:] = [
            ("context", of("own_context"), "NVML"),
            ("others", of("others"), "NVML"),
            ("unlisted", ledger.beyond, "difference"),
        ]
    rows = [row for row in rows if row[1]]
    rows.append(("free", ledger.total - ledger.used, "counted" if found["is_fresh"] else "difference"))
    assert sum(bytes_ for _, bytes_, _ in rows) == ledger.total
    return [{"term": term, "bytes": bytes_, "source": source} for term, bytes_, source in rows]


def fresh(figures, failure):
    """True if the card was sampled inside one of the calls that failed."""
    sample = figures.sample(failure.account[0], failure.event.index)
    told = sample and figures.books.events[sample.index]
    return bool(told and told.nested and told.call and told.thread == failure.event.thread) and any(
        call.call == told.call for call in failure.calls[:4]
    )


def live_bytes(figures, account, index):
    return sum(block.size for block in figures.live_blocks(account, index))


def gather(figures, event, account):
    """Returns (account that held the memory, evidence). The evidence is the bytes that were held, and the figures that
    the card reported."""
    books, device, index = figures.books, account[0], event.index
    driver_account, modules_account = (device, "device", 0), (device, "context", 0)
    held_account = account if account[1] == "pool" else figures.leading(device)
    driver, held = figures.frag(driver_account, index), figures.frag(held_account, index)
    total, context = books.cards.get(device, (None, None))
    found = {
        "driver_live_bytes": driver["live_bytes"],
        "live_bytes": held["live_bytes"],
        "reserved_bytes": held["reserved_bytes"],
        "idle_bytes": held["free_bytes"],
        "largest_hole_bytes": held["largest_free_bytes"],
        "context_bytes": context,
        "device_total_bytes": total or None,
        "device_free_bytes": None,
        "others_bytes": None,
    }
    sample = figures.sample(device, index)
    if not sample:
        return held_account, found
    told = min(books.told.get(sample.index, sample.index), index)
    modules = live_bytes(figures, modules_account, index)
    then = figures.frag(driver_account, told)["reserved_bytes"] + live_bytes(figures, modules_account, told)
    found["device_total_bytes"] = sample.total or None
    found["device_free_bytes"] = max(sample.free + then - driver["reserved_bytes"] - modules, 0)
    if context is not None:
        mine = min(context, CONTEXT_MOST) + modules
        used = max((found["device_total_bytes"] or 0) - found["device_free_bytes"], 0)
        found["others_bytes"] = max(used - driver["reserved_bytes"] - mine, 0)
    return held_account, found


def judge(books, failure, account, found):
    event, asked, total, free = failure.event, failure.event.size, found["device_total_bytes"], found["device_free_bytes"]
    idle, live, reserved = found["idle_bytes"] or 0, found["live_bytes"], found["reserved_bytes"] or 0
    has_pool, of_pool = found["has_pool"], account[1] == "pool"

    def notable(bytes_):
        return bool(bytes_) and bytes_ >= reserved // 20

    def enough(bytes_):
        return bytes_ and bytes_ >= asked or notable(bytes_) and bytes_ >= asked // 100 and asked <= bytes_ + (free or 0)

    def makes_room(bytes_):
        return bytes_ >= (total or 0) // 32 and asked <= idle + (free or 0) + bytes_

    if event.result != 2 or account[1] not in ("device", "pool"):
        return "unknown"
    if total and asked > total:
        return "exhausted"
    if event.memory == "tensor" and len(failure.calls) == 1:
        return "fragmented" if found["reserved_bytes"] is not None and idle >= asked else "limit"
    of_driver = [call.size for call in failure.calls[:4] if books.account_kind[call.memory] == "device"]
    if event.memory == "graph pool":
        return "exhausted"
    if free is not None and -(-max(asked, min(of_driver, default=0)) // GRANULE) * GRANULE <= free:
        return "limit" if found["is_fresh"] else "unknown"
    if of_pool and (found["other_stream_hole_bytes"] >= asked or enough(found["whole_bytes"])):
        return "cached"
    out_of_reach = found["graphs_idle_bytes"] + found["mempools_bytes"] - found["asked_idle_bytes"]
    if enough(out_of_reach + (idle if has_pool and not of_pool else 0)):
        return "cached"
    of_drivers = event_is_of_drivers_pool(failure, found)
    inside = found["asked_idle_bytes"] if of_drivers else idle
    if (not has_pool or of_pool) and (notable(inside) or not (has_pool or of_drivers)) and enough(inside):
        return "fragmented"
    if free is None:
        return "exhausted" if total and asked > max(total - found["driver_live_bytes"], 0) else "unknown"
    others = found["others_bytes"]
    if others is None:
        unexplained = max((total or 0) - free - found["driver_live_bytes"] - CONTEXT_MOST, 0)
    else:
        unexplained = others
    says = None
    if found["unlisted_bytes"] is not None:
        told = found["others_bytes"]
        says = "others" if makes_room(told) else "unknown" if makes_room(told + found["unlisted_bytes"]) else None
    elif makes_room(unexplained):
        managed = found["managed_bytes"]
        hides = managed and not makes_room(max(unexplained - managed, 0))
        says = "unknown" if hides or others is None or unexplained <= CONTEXT_MOST else "others"
    if says == "others":
        return says
    if of_pool and found["outside_bytes"] >= live // 2 and makes_room(found["outside_bytes"]):
        return "outside"
    return says or ("limit" if found["is_slice"] else "exhausted")


def kind(figures, failure):
    meta = figures.books.meta
    if figures.failures.went_on(failure):
        return "caught"
    if meta.get("exit_status") is not None:
        return "fatal" if meta["exit_status"] else "caught"
    last = figures.books.events[figures.books.count - 1]
    return "unknown" if last.kind == "exit" or meta["complete"] else "fatal"


def kind_reason(figures, failure):
    status = figures.books.meta.get("exit_status")
    if figures.failures.went_on(failure):
        return "the program went on allocating"
    if status is not None:
        return f"nothing was allocated after it, and the program ended with status {status}"
    if kind(figures, failure) == "fatal":
        return "nothing was allocated after it, and the program was aborted or killed"
    return "nothing was allocated after it; the trace does not say how the program ended"


def retries(figures):
    """Returns a row for each stack that retried. No function in random traces has the name of one that can do without
    the memory."""
    sites = {}
    for event, flushed in figures.failures.retries:
        site = sites.setdefault((event.device, event.stack), {"device": event.device, "retries_count": 0, "done_without_count": 0, "asked_bytes": 0,
                                                              "flushed_bytes": 0, "forward": [], "frames": figures.books.stack_frames(event.stack)})  # fmt: skip
        site["retries_count"] += 1
        site["asked_bytes"] = max(site["asked_bytes"], event.size)
        site["flushed_bytes"] += flushed
        site |= {"last_seq": event.seq, "last_time_ns": event.time}
    return headed(list(sites.values()))


def asker_of(figures, failure):
    """Returns (frames of the request, frames of its forward operator)."""
    return tuple(figures.books.stack_frames(stack) for stack in (failure.event.stack, figures.forward_of_any.get(failure.event.index)))


@functools.lru_cache(maxsize=1)
def labels_of_failures(figures):
    """Returns the labels of all shown failures, and of the blocks that were live at the failure that the answer
    explains."""
    chosen, shown = None, [figures.failures.list[number] for number in figures.shown_failures()]
    for failure in shown:
        if not chosen or kind(figures, chosen) == "caught" or kind(figures, failure) != "caught":
            chosen = failure
    held_account, _ = gather(figures, chosen.event, chosen.account)
    live = figures.live_blocks(held_account, chosen.event.index)
    return Labels([*stacks_of(figures, live).values(), *(asker_of(figures, failure) for failure in shown)])


def told_apart(figures, both):
    labels = labels_of_failures(figures)
    return {"site": label(labels, *both), "called": called(labels, *both), "frames": both[0]}


def beyond(figures, account, index):
    """Returns the sites of driver memory outside of tensors, if there is a pool: [rows outside of pools, rows of the
    segments of graphs]."""
    driver, live = (account[0], "device", 0), figures.live_blocks((account[0], "device", 0), index)
    of_graphs = [r.block for r in figures.books.ranges
                 if r.pool_account == account and not r.physical and figures.graphs.is_of_graph(r, index)]  # fmt: skip
    outside_pools = [block for block in live if not block.is_segment and block.memory != "graph pool"]
    graphs = [block for block in live if any(block is other for other in of_graphs)]
    held = (outside_pools, graphs) if account[1] == "pool" else ((), ())
    return [headed(list(figures.sum_up(driver, blocks, figures.site))) for blocks in held]


def explain(figures, number):
    books = figures.books
    failure = figures.failures.list[number]
    event, account, span = failure.event, failure.account, failure.span
    held_account, found = gather(figures, event, account)
    found |= {"has_pool": held_account[1] == "pool", "is_fresh": fresh(figures, failure)}
    of_card = books.cards.get(account[0], (None, None))[0]
    found["is_slice"] = bool(of_card and found["device_free_bytes"] is not None and (found["device_total_bytes"] or 0) < of_card)
    weigh_pools(figures, failure, held_account, found)
    rows = terms(figures, failure, found)
    told = outside.fields(figures, failure, found)
    verdict = judge(books, failure, account, found)
    for name in ("has_pool", "is_fresh", "is_slice", "other_stream_hole_bytes", "whole_bytes", "mempools_bytes", "graphs_idle_bytes", "asked_idle_bytes", "managed_bytes",
                 "unlisted_bytes", "told"):  # fmt: skip
        del found[name]
    categories, calls = {}, failure.calls
    for block in figures.live_blocks(held_account, event.index):
        category = figures.category(block)
        categories[category] = categories.get(category, 0) + block.size
    return {
        "number": number + 1,
        "device": account[0],
        **figures.layer(account),
        **figures.stamp(event.index),
        "api": books.hooks.get(event.hook, ""),
        "phase": figures.path_text(span),
        "result": event.result,
        "asked_bytes": None if account[1] == "context" else event.size,
        "verdict": verdict,
        "sum": rows,
        **told,
        "kind": kind(figures, failure),
        "flushed_bytes": failure.flushed,
        "refusals_count": len(calls),
        "refusals": [
            {"seq": call.seq, "time_ns": call.time, "api": books.hooks.get(call.hook, ""), "asked_bytes": call.size,
             "result": call.result}
            for call in calls[:4]
        ],
        **found,
        "kind_reason": kind_reason(figures, failure),
        **told_apart(figures, asker_of(figures, failure)),
        **dict(zip(HELD, (figures.kept_sites(held_account, event.index), *beyond(figures, held_account, event.index)))),
        "categories": {category: bytes_ for category, bytes_ in categories.items() if bytes_},
        **holders.list_of(figures, lambda: [holders.rows(figures, held_account, event.index)]),
    }
