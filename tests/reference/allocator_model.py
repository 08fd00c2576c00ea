# SPDX-License-Identifier: MIT
"""A slow, plain model of PyTorch's caching allocator, written from PyTorch's documentation: it searches lists from end
to end. It also writes the trace of its own run, as the recorder would."""

MIB = 1 << 20
SMALL, GRANULE, PIECE = MIB, 2 * MIB, 20 * MIB


def up(size, unit):
    return -(-size // unit) * unit


class Refused(Exception):
    pass


class Block:
    def __init__(self, segment, address, size, state):
        self.segment, self.address, self.size, self.state = segment, address, size, state


class Segment:
    """The blocks of a segment, by address. A block is used, free, or (in an expandable segment) unmapped."""

    def __init__(self, pool, address, size, state, age):
        self.pool, self.address, self.age = pool, address, age
        self.blocks = [Block(self, address, size, state)]

    def cut(self, block, size):
        rest = Block(self, block.address + size, block.size - size, block.state)
        block.size = size
        self.blocks.insert(self.blocks.index(block) + 1, rest)
        return rest

    def tidy(self):
        kept = []
        for block in self.blocks:
            if kept and block.state == kept[-1].state != "used":
                kept[-1].size += block.size
            else:
                kept.append(block)
        self.blocks = kept


class Allocator:
    """The allocator. The key of a pool is (stream, whether its blocks are small, graph or None). If several free blocks
    have the same size, the allocator takes the one at the lowest address or, with `oldest`, the one in the oldest
    segment."""

    def __init__(self, expandable=False, max_split=None, room=None, cached=True, total=16 << 30, trace=None,
                 oldest=False, tells_asked=False):
        self.tells_asked = tells_asked  # if a block is larger than the request, the trace also tells the requested size
        self.expandable, self.max_split, self.cached, self.total = expandable, max_split, cached, total
        self.room = room  # a function that returns the most bytes that the pool may hold now; None: no limit
        self.trace, self.handles = trace, {}
        self.segments, self.next, self.ages, self.oldest = [], 0x200000000000, 0, oldest
        self.graphs, self.captures = set(), 0  # graphs that exist; number of open captures
        self.gone = []  # (size, address) of segments that were given back to the driver
        self.reserved = self.live = self.peak = self.most_live = self.retries = 0

    # --- the driver ---

    def take(self, size):
        if self.room is not None and self.reserved + size > self.room():
            if self.trace:
                self.trace.fail(size)
            raise Refused
        self.reserved += size
        self.peak = max(self.peak, self.reserved)

    def new_segment(self, pool, size):
        self.take(size)
        segment = Segment(pool, self.place(size), size, "free", self.age())
        self.segments.append(segment)
        if self.trace:
            self.trace.alloc(size, address=segment.address)
        return segment.blocks[0]

    def age(self):
        self.ages += 1
        return self.ages

    def place(self, size):
        """Returns the address of a new segment. The addresses of segments that were given back are used again, as a
        driver does."""
        again = [(length, address) for length, address in self.gone if length >= up(size, GRANULE)]
        if again:
            self.gone.remove(max(again))
            return max(again)[1]
        self.next += up(size, GRANULE)
        return self.next - up(size, GRANULE)

    def give_back(self, segment):
        self.segments.remove(segment)
        self.gone.append((up(sum(block.size for block in segment.blocks), GRANULE), segment.address))
        self.reserved -= sum(block.size for block in segment.blocks)
        if self.trace:
            self.trace.free(segment.address)

    # --- choice ---

    def free_blocks(self, pool):
        return [b for s in self.segments if s.pool == pool for b in s.blocks if b.state == "free"]

    def order(self, block):
        return block.size, block.segment.age if self.oldest else 0, block.address

    def reach(self, block):
        blocks = block.segment.blocks
        after = blocks[blocks.index(block) + 1 :][:1]
        return block.size + sum(b.size for b in after if b.state == "unmapped")

    def find(self, pool, size):
        fits = sorted((b for b in self.free_blocks(pool) if b.size >= size), key=self.order)
        if not fits:
            return None
        best = fits[0]
        if self.expandable:
            for other in fits[1:]:
                if self.reach(other) >= self.reach(best):
                    break
                best = other
        limit = self.max_split
        if limit and (size < limit <= best.size or (size >= limit and best.size >= size + PIECE)):
            return None
        return best

    # --- growth ---

    def grow(self, pool, size):
        if not self.expandable:
            return self.new_segment(pool, size)
        piece = GRANULE if pool[1] else PIECE
        for segment in sorted((s for s in self.segments if s.pool == pool), key=lambda s: s.address):
            found = self.grow_in(segment, size, piece)
            if found:
                return found
        length = up(self.total + self.total // 8, piece)
        self.segments.append(Segment(pool, self.next, length, "unmapped", self.age()))
        self.next += length
        return self.grow_in(self.segments[-1], size, piece)

    def grow_in(self, segment, size, piece):
        for block in segment.blocks:
            if block.state != "unmapped":
                continue
            at = segment.blocks.index(block)
            first = at - 1 if at and segment.blocks[at - 1].state == "free" else at
            run, total = first, 0
            while run < len(segment.blocks) and segment.blocks[run].state != "used" and total < size:
                total += segment.blocks[run].size
                run += 1
            if total >= size:
                return self.map_until(segment, segment.blocks[first].address, size, piece)
        return None

    def map_until(self, segment, address, size, piece):
        while True:
            block = next(b for b in segment.blocks if b.address == address)
            if block.state == "free" and block.size >= size:
                return block
            missing = size
            if block.state == "free":
                missing -= block.size
                block = segment.blocks[segment.blocks.index(block) + 1]
            mapped = min(up(min(missing, block.size), piece), block.size)
            self.take(mapped)
            if mapped < block.size:
                segment.cut(block, mapped)
            block.state = "free"
            segment.tidy()

    def empty_cache(self):
        loose = [s for s in self.segments if s.pool[2] not in self.graphs]
        for segment in list(loose):
            if len(segment.blocks) == 1 and segment.blocks[0].state == "free" and not self.expandable:
                self.give_back(segment)
        if self.expandable:
            for segment in loose:
                self.unmap(segment)

    def unmap(self, segment):
        piece = GRANULE if segment.pool[1] else PIECE
        for block in [b for b in segment.blocks if b.state == "free"]:
            start = segment.address + up(block.address - segment.address, piece)
            end = segment.address + (block.address + block.size - segment.address) // piece * piece
            if start >= end:
                continue
            if start > block.address:
                block = segment.cut(block, start - block.address)
            if end < block.address + block.size:
                segment.cut(block, end - start)
            block.state = "unmapped"
            self.reserved -= end - start
        had = any(b.state == "unmapped" for b in segment.blocks)
        segment.tidy()
        if had and len(segment.blocks) == 1 and segment.blocks[0].state == "unmapped":
            self.segments.remove(segment)

    def give_oversized(self, pool, size):
        if not self.max_split or pool[1]:
            return False
        wanted, given = max(size, self.max_split), 0
        free = sorted(self.free_blocks(pool), key=self.order)
        enough = [b for b in free if b.size >= wanted]
        if enough:
            self.give_back(enough[0].segment)
            return True
        for block in reversed(free):
            if given >= wanted or block.size < self.max_split:
                break
            given += block.size
            self.give_back(block.segment)
        return given >= wanted

    # --- requests ---

    def alloc(self, size, stream=0, graph=None):
        """Returns the block, or None if the request is refused. With a graph, the block belongs to the capture of that
        graph."""
        asked, size = size, up(size, 512)
        pool = (stream, size <= SMALL, graph)
        block = self.find(pool, size) if self.cached else None
        if block is None:
            block = self.grow_or_retry(pool, size)
            if block is None:
                if self.trace:
                    self.trace.fail(size, "tensor", stream=stream)
                return None
        rest = block.size - size
        cuts = rest >= 512 if pool[1] or self.expandable else rest > SMALL and not (self.max_split and size >= self.max_split)
        if cuts and self.cached:
            block.segment.cut(block, size)
        block.state = "used"
        told = size if self.tells_asked else block.size
        self.live += block.size
        self.most_live = max(self.most_live, self.live)
        if self.trace and told < block.size:
            self.trace.event("pool-asked", address=block.address, size=asked, device=0)
        if self.trace:
            self.trace.tensor(block.address, block.size, stream=stream)
        return block

    def grow_or_retry(self, pool, size):
        if not self.cached:
            asked = size
        else:
            asked = GRANULE if pool[1] else PIECE if size < 10 * MIB else up(size, GRANULE)
        for attempt in ("at once", "oversized", "all"):
            if attempt == "oversized" and not self.give_oversized(pool, size):
                continue
            if attempt == "all":
                if self.captures:
                    continue
                self.empty_cache()
            try:
                block = self.grow(pool, size if self.expandable else asked)
            except Refused:
                if not self.cached:
                    return None
                continue
            self.retries += attempt != "at once"
            return block
        return None

    def free(self, block):
        if self.trace:
            self.trace.tensor_free(block.address)
        self.live -= block.size
        block.state = "free"
        block.segment.tidy()
        if not self.cached:
            self.give_back(block.segment)
