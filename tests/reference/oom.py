# SPDX-License-Identifier: MIT
"""Why an allocation failed: the evidence and the verdict, as doc/ and analysis/oom.h define them. Figures are asked."""

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


def refused_by_framework(books, event):
    """A pool refused by itself: the thread's allocation before it was no failed call of the driver."""
    if event.memory != "tensor":
        return False
    before = [other for other in books.events[: event.index] if other.thread == event.thread and other.kind == "alloc"]
    return not before or before[-1].memory == "tensor" or before[-1].result == 0


def judge(books, event, stock, found):
    asked, total, free = event.size, found["device_total_bytes"], found["device_free_bytes"]
    idle, others = found["idle_bytes"] or 0, found["others_bytes"]
    if event.result != 2 or stock[1] in NOT_OF_THE_CARD:
        return "unknown"
    if total and asked > total:
        return "exhausted"
    if refused_by_framework(books, event):
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


def explain(figures, number):
    books = figures.books
    event, stock, span = books.failures[number]
    held_stock, found = gather(figures, event, stock)
    categories = {}
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
        "verdict": judge(books, event, stock, found),
        **found,
        "categories": {category: bytes_ for category, bytes_ in categories.items() if bytes_},
    }
