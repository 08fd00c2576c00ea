# SPDX-License-Identifier: MIT
"""Computes the free memory of a pool by stream, and by the stacks that pin it. The code is slow and plain."""

from reference.blame import headed


def held_at(figures, account, index):
    return [
        r
        for r in figures.books.ranges
        if r.pool_account == account and r.begin <= index and (r.end is None or r.end > index)
    ]


def joined(pieces, graphs, index):
    """Returns the segments. Adjacent mappings are joined to one segment if all of them or none of them belong to a
    graph. A segment has the stream of its first mapping."""
    segments = []
    for r in sorted(pieces, key=lambda r: r.address):
        piece = [r.address, r.address + r.size, r.physical is not None, r.stream, graphs.is_of_graph(r, index)]
        last = segments[-1] if segments else None
        if last and last[2] and piece[2] and piece[0] == last[1] and piece[4] == last[4]:
            last[1] = piece[1]
        else:
            segments.append(piece)
    return segments


def holes(start, end, blocks):
    """Returns the sizes of the stretches from start to end that no block covers."""
    found, at = [], start
    for block in sorted(blocks, key=lambda b: b.address):
        a, b = max(block.address, start), min(block.address + block.size, end)
        if a < b:
            found.append(max(a - at, 0))
            at = max(at, b)
    found.append(max(end - at, 0))
    return found


def streams(figures, account, index):
    if account[1] != "pool":
        return None
    if index is None:
        return []
    live, pieces = figures.live_blocks(account, index), held_at(figures, account, index)
    sums = {}
    for start, end, _, stream, of_graph in joined(pieces, figures.graphs, index):
        row = sums.setdefault(stream, dict.fromkeys(KEYS, 0) | {"stream": stream})
        gaps = holes(start, end, live)
        inside = [r for r in pieces if start <= r.address < end]
        pinned = [r for r in inside if any(r.overlaps(b.address, b.size) for b in live)]
        row["segments"] += 1
        row["reserved_bytes"] += end - start
        row["live_bytes"] += end - start - sum(gaps)
        if of_graph:
            continue
        row["free_bytes"] += sum(gaps)
        begun = [b for b in live if start <= b.address < end]
        row["largest_free_bytes"] = max(row["largest_free_bytes"], *holes(start, end, begun))
        row["stranded_bytes"] += sum(sum(holes(r.address, r.address + r.size, live)) for r in pinned)
    return list(sums.values())


KEYS = ("segments", "reserved_bytes", "live_bytes", "free_bytes", "largest_free_bytes", "stranded_bytes")


def pinned_by(figures, account, index):
    """Returns one row for each stack that has a block in a segment with free bytes."""
    if account[1] != "pool":
        return None
    if index is None:
        return []
    rows = {}
    for piece in held_at(figures, account, index):
        if figures.graphs.is_of_graph(piece, index):
            continue
        inside = [b for b in figures.live_blocks(account, index) if piece.overlaps(b.address, b.size)]
        free = sum(holes(piece.address, piece.address + piece.size, inside))
        stacks = {b.stack or 0 for b in inside}
        for stack in stacks if free else ():
            row = rows.setdefault(stack, dict.fromkeys(("alone_bytes", "pinned_bytes", "segments", "blocks", "bytes"), 0))
            own = [b for b in inside if (b.stack or 0) == stack]
            row["alone_bytes"] += free if len(stacks) == 1 else 0
            row["pinned_bytes"] += free
            row["segments"] += 1
            row["blocks"] += len(own)
            row["bytes"] += sum(b.size for b in own)
    return headed([{**row, "frames": figures.books.stack_frames(stack), "forward": []} for stack, row in rows.items()])
