# SPDX-License-Identifier: MIT
"""Finds which segments of a pool belonged to CUDA graphs, and when. It reads the captures slowly, by the rule of
TRACE-FORMAT.md. Segments are the ranges of books.py."""

import collections
import dataclasses

STREAM_UNKNOWN = None
KINDS = ("capture-begin", "capture-end", "graph-made", "graph-destroy")


@dataclasses.dataclass(eq=False)
class Capture:
    stream: int
    thread: int
    is_open: bool = True
    handles: set = dataclasses.field(default_factory=set)  # handles of the graph and of the graphs made from it


@dataclasses.dataclass(eq=False)
class Pool:
    captures: set  # the captures that are still open or still have a handle
    ranges: set = dataclasses.field(default_factory=set)


class Graphs:
    def __init__(self, books):
        self.books = books
        self.captures, self.pools = [], []
        self.owned = collections.defaultdict(list)  # range: [[first event, event that ended it]]
        self.last_of_thread = {}
        for event in books.events[: books.count]:
            take = {"alloc": self.alloc, **dict(zip(KINDS, (self.begin, self.end, self.make, self.destroy)))}.get(event.kind)
            if take and event.result == 0:
                take(event)

    def is_of_graph(self, held, index):
        return any(begin <= index and (end is None or index < end) for begin, end in self.owned[held])

    def pool_of(self, capture):
        return next(pool for pool in self.pools if capture in pool.captures)

    def drop(self, capture, index):
        self.captures.remove(capture)
        pool = self.pool_of(capture)
        pool.captures.remove(capture)
        if not pool.captures:
            self.pools.remove(pool)
            for held in pool.ranges:
                self.owned[held][-1][1] = index

    def open_of_stream(self, stream):
        return next((c for c in self.captures if c.is_open and c.stream == stream), None)

    def begin(self, event):
        before = self.open_of_stream(event.stream)
        if before:
            self.drop(before, event.index)
            before.is_open = False
        self.captures.append(Capture(event.stream, event.thread))
        self.pools.append(Pool({self.captures[-1]}))
        self.last_of_thread[event.thread] = self.captures[-1]

    def own(self, capture, handle, index):
        before = next((c for c in self.captures if handle in c.handles), None)
        capture.handles.add(handle)
        if before and before is not capture:
            self.lose(before, handle, index)

    def lose(self, capture, handle, index):
        capture.handles.remove(handle)
        if not capture.handles:
            self.drop(capture, index)

    def end(self, event):
        capture = self.open_of_stream(event.stream)
        if not capture:
            return
        capture.is_open = False
        if event.object:
            self.own(capture, event.object, event.index)
        else:
            self.drop(capture, event.index)

    def make(self, event):
        capture = next((c for c in self.captures if event.address in c.handles), None)
        if capture:
            self.own(capture, event.object, event.index)

    def destroy(self, event):
        capture = next((c for c in self.captures if event.object in c.handles), None)
        if capture:
            self.lose(capture, event.object, event.index)

    def alloc(self, event):
        if event.memory != "tensor" or not event.address:
            return
        capture = self.open_of_stream(event.stream) if event.stream is not STREAM_UNKNOWN else None
        if not capture:
            capture = self.last_of_thread.get(event.thread)
        if not capture or not capture.is_open:
            return
        for held in self.books.ranges:
            lives = held.begin <= event.index and (held.end is None or held.end > event.index)
            if lives and held.pool_account and held.overlaps(event.address, event.size) and event.size:
                self.use(self.pool_of(capture), held, event.index)

    def use(self, pool, held, index):
        other = next((other for other in self.pools if held in other.ranges), None)
        if other is None:
            self.owned[held].append([index, None])
            pool.ranges.add(held)
        elif other is not pool:
            self.pools.remove(other)
            pool.captures |= other.captures
            pool.ranges |= other.ranges
