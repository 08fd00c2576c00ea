# SPDX-License-Identifier: MIT
"""Computes what keeps memory alive, by the tables walk and holder: joins each walk's rows with the blocks that were live
then, and sums the blocks by chain and kind. The definitions are in analyzer/analysis/holders/."""

import collections
import functools

MAY_BE_HELD = ("device", "pool", "managed", "host")
WITHOUT_ADDRESS = ("array", "virtual", "virtual host", "graph pool")

Walk = collections.namedtuple("Walk", "index seq reason stopped held")  # held: {block: its row}
Row = collections.namedtuple("Row", "walk address size kind chain items location order")


@functools.lru_cache(maxsize=2)
def walks_of(figures):
    books, walks = figures.books, []
    for number, after, reason, stopped in books.walks:
        index = max((event.index for event in books.events[: books.count] if event.seq <= after), default=None)
        if books.count:
            rows = [Row(*row, order) for order, row in enumerate(books.holders) if row[0] == number]
            held = {} if index is None else join(figures, index, rows)
            event = None if index is None else books.events[index]
            walks.append(Walk(index or 0, event.seq if event else 0, reason, stopped, held))
    return walks


def join(figures, index, rows):
    """Returns {block that was live at the event: its row with the largest storage, or None}."""
    live = [
        block
        for account in figures.books.counts
        if account[1] in MAY_BE_HELD
        for block in figures.live_blocks(account, index)
        if (block.segment_since is None or block.segment_since > index) and block.memory not in WITHOUT_ADDRESS
    ]
    live.sort(key=lambda block: (block.address, block.account[1] == "pool", block.begin))
    held = dict.fromkeys(live)
    for row in rows:
        below = [block for block in live if block.address <= row.address]
        if below and row.address - below[-1].address < below[-1].size:
            before = held[below[-1]]
            if before is None or row.size > before.size:
                held[below[-1]] = row
    return held


def walk_at(figures, account, index, of_walk):
    """Returns the walk that is nearest to the event; of_walk: the last one up to it. If an allocation failed then on this
    device, the walk for that failure has its event or follows it."""
    walks = walks_of(figures)
    count = sum(walk.index <= index for walk in walks)
    before, after = walks[:count][-1:], walks[count:][:1]
    failed = any(one.event.index == index and one.account[0] == account[0] for one in figures.failures.list)
    own = [walk for walk in walks if walk.index == index and walk.reason == "oom"]
    if failed and own and not of_walk:
        return own[-1]
    if of_walk or not before or not after:
        return next(iter(before or after if not of_walk else before), None)
    if failed and after[0].reason == "oom":
        return after[0]
    return min(before + after, key=lambda walk: abs(walk.index - index))


def blocks_of(figures, account, index, of_walk):
    """Returns (walk, blocks of the account that lived at the walk and, unless of_walk, at the event as well)."""
    walk = walk_at(figures, account, index, of_walk)
    live = {id(block) for block in figures.live_blocks(account, index)}
    return walk, [block for block in walk.held if block.account == account and (of_walk or id(block) in live)] if walk else []


def key_of(row):
    return (row.chain, row.kind) if row else None


def sums(blocks, walk):
    """Returns [(row of the largest block, bytes, blocks, items of the fullest container)], one for each chain."""
    by_chain = collections.defaultdict(list)
    for block in blocks:
        by_chain[key_of(walk.held[block])].append(block)
    found = []
    for own in by_chain.values():
        rows = [walk.held[block] for block in own]
        largest = min(own, key=lambda block: (-block.size, walk.held[block].order if walk.held[block] else 0))
        items = max((row.items or 0 for row in rows if row), default=0)
        found.append((walk.held[largest], sum(block.size for block in own), len(own), items))
    return found


def rows(figures, account, index, of_walk=False):
    """Returns the rows of `holders` of one account."""
    walk, blocks = blocks_of(figures, account, index, of_walk)
    strings, locations, found = figures.books.strings, figures.books.locations, []
    for row, bytes_, count, items in sums(blocks, walk) if walk else ():
        place = locations.get(row.location) if row else None
        found.append({**figures.layer(account), "bytes": bytes_, "count": count,
                      "chain": row and strings[row.chain], "kind": row and row.kind, "items_count": items or None,
                      "function": place and strings[place[0]], "file": place and strings[place[1]],
                      "line": place and place[2], "walk_reason": walk.reason, "walk_seq": walk.seq,
                      "walk_stopped": walk.stopped})  # fmt: skip
    return found


@functools.lru_cache(maxsize=4)
def kept_by_stack(figures, account, index, of_walk):
    walk, blocks = blocks_of(figures, account, index, of_walk)
    own, found = collections.defaultdict(list), {}
    for block in blocks:
        own[block.stack].append(block)
    for stack, held in own.items():
        first = max(sums(held, walk), key=lambda sum_: sum_[1])
        if first[0] and first[1] * 2 > sum(block.size for block in held):
            found[stack] = {"kept_by": figures.books.strings[first[0].chain], "walk_seq": walk.seq}
    return found


def kept_by(figures, account, index, stack, of_walk=False):
    """Returns {"kept_by", "walk_seq"} of a call stack: the chain that keeps most of its bytes. {}: there are no walks."""
    nothing = {"kept_by": None, "walk_seq": None}
    return kept_by_stack(figures, account, index, of_walk).get(stack, nothing) if walks_of(figures) else {}


def list_of(figures, found):
    """Returns {"holders": rows} if the trace has walks, else {}."""
    return {"holders": [row for rows in found() for row in rows]} if walks_of(figures) else {}
