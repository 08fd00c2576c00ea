# SPDX-License-Identifier: MIT
"""Why an allocation failed: the evidence and the verdict, as doc/ and analyzer/oom/oom.h define them. Figures are asked."""

MIB = 1 << 20
GRANULE = 2 * MIB
CONTEXT_MOST = 1 << 30
NOT_OF_THE_CARD = ("host", "imported", "context")


def live_bytes(figures, stock, index):
    return sum(block.size for block in figures.live_blocks(stock, index))


def gather(figures, event, stock):
    """What was held, and what the card said."""
    books, device, index = figures.books, stock[0], event.index
    driver_stock, modules_stock = (device, "device", 0), (device, "context", 0)
    held_stock = stock if stock[1] == "pool" else figures.leading(device)
    driver, held = figures.frag(driver_stock, index), figures.frag(held_stock, index)
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
        return held_stock, found
    told = min(books.told.get(sample.index, sample.index), index)
    modules = live_bytes(figures, modules_stock, index)
    then = figures.frag(driver_stock, told)["reserved_bytes"] + live_bytes(figures, modules_stock, told)
    found["device_total_bytes"] = sample.total or None
    found["device_free_bytes"] = max(sample.free + then - driver["reserved_bytes"] - modules, 0)
    if context is not None:
        first = next((i for i, block, *_ in books.changes if block.stock == driver_stock), None)
        included = live_bytes(figures, modules_stock, first) if first is not None else 0
        mine = min(context, CONTEXT_MOST) + max(modules - included, 0)
        used = max((found["device_total_bytes"] or 0) - found["device_free_bytes"], 0)
        found["others_bytes"] = max(used - driver["reserved_bytes"] - mine, 0)
    return held_stock, found


def judge(failure, event, stock, found):
    asked, total, free = event.size, found["device_total_bytes"], found["device_free_bytes"]
    idle, others = found["idle_bytes"] or 0, found["others_bytes"]
    if event.result != 2 or stock[1] in NOT_OF_THE_CARD:
        return "unknown"
    if total and asked > total:
        return "exhausted"
    if event.memory == "tensor" and len(failure.calls) == 1:
        return "fragmented" if found["reserved_bytes"] is not None and idle >= asked else "limit"
    if free is not None and -(-asked // GRANULE) * GRANULE <= free:
        return "limit"
    share = idle and idle >= (found["reserved_bytes"] or 0) // 20
    if idle >= asked or (share and asked <= idle + (free or 0)):
        return "fragmented"
    if others is not None and others >= total // 32 and asked <= idle + free + others:
        return "others"
    if free is not None or (total and asked > max(total - found["driver_live_bytes"], 0)):
        return "exhausted"
    return "unknown"


def kind(figures, failure):
    meta = figures.books.meta
    if figures.failures.went_on(failure):
        return "caught"
    if meta.get("exit_status") is not None:
        return "fatal" if meta["exit_status"] else "caught"
    last = figures.books.events[figures.books.count - 1]
    return "unknown" if last.kind == "exit" or meta["complete"] else "fatal"


def retries(figures):
    sites = {}
    for event, flushed in figures.failures.retries:
        site = sites.setdefault((event.device, event.stack), {"device": event.device, "retries_count": 0, "asked_bytes": 0,
                                                              "flushed_bytes": 0})  # fmt: skip
        site["retries_count"] += 1
        site["asked_bytes"] = max(site["asked_bytes"], event.size)
        site["flushed_bytes"] += flushed
        site["last_seq"] = event.seq
    return list(sites.values())


def explain(figures, number):
    books = figures.books
    failure = figures.failures.list[number]
    event, stock, span = failure.event, failure.stock, failure.span
    held_stock, found = gather(figures, event, stock)
    categories, calls = {}, failure.calls
    for block in figures.live_blocks(held_stock, event.index):
        category = figures.category(block)
        categories[category] = categories.get(category, 0) + block.size
    return {
        "number": number + 1,
        "device": stock[0],
        **figures.layer(stock),
        **figures.stamp(event.index),
        "api": books.hooks.get(event.hook, ""),
        "phase": figures.path_text(span),
        "result": event.result,
        "asked_bytes": None if stock[1] == "context" else event.size,
        "verdict": judge(failure, event, stock, found),
        "kind": kind(figures, failure),
        "flushed_bytes": failure.flushed,
        "refusals_count": len(calls),
        "refusals": [
            {"seq": call.seq, "time_ns": call.time, "api": books.hooks.get(call.hook, ""), "asked_bytes": call.size,
             "result": call.result}
            for call in calls[:4]
        ],
        **found,
        "categories": {category: bytes_ for category, bytes_ in categories.items() if bytes_},
    }
