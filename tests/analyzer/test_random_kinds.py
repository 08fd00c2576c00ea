# SPDX-License-Identifier: MIT
"""Random lives of virtual memory, imports, bindings and graph pools. A model computes the expected figures with one
rule: after each event, an object is live as long as anything refers to it."""
import random

import pytest

from support.run import load_json
from support.tracefile import MIB, Trace

EVENTS = 600
PLACE = 0x7000_0000_0000


class Object:
    """Physical memory, with the handles, mappings and bindings that refer to it."""

    def __init__(self, account, size):
        self.account, self.size = account, size
        self.handles, self.places, self.bound = [], set(), set()

    def is_live(self):
        return bool(self.handles or self.places or self.bound)


class Books:
    """Makes random events and keeps the expected figures."""

    def __init__(self, trace, seed):
        self.trace, self.random = trace, random.Random(seed)
        self.objects, self.containers, self.imports = [], {}, {}
        self.graph = 0
        self.next = 0x1000
        self.counts = {name: [0, 0] for name in ("driver", "host", "imported")}
        self.peaks = dict.fromkeys(self.counts, 0)

    def fresh(self):
        self.next += 0x10
        return self.next

    def live(self, account):
        total = sum(o.size for o in self.objects if o.account == account)
        total += sum(size for size, _ in self.imports.values()) if account == "imported" else 0
        return total + (self.graph if account == "driver" else 0)

    def settle(self):
        """Counts one free for each object to which nothing refers any more."""
        for gone in [o for o in self.objects if not o.is_live()]:
            self.objects.remove(gone)
            self.counts[gone.account][1] += 1
        for account in self.peaks:
            self.peaks[account] = max(self.peaks[account], self.live(account))

    def choose(self, condition=lambda o: True):
        found = [o for o in self.objects if condition(o)]
        return self.random.choice(found) if found else None

    # --- events ---

    def create(self):
        memory, account = self.random.choice(
            [("vmm", "driver"), ("vmm-host", "host"), ("imported-vmm", "imported")]
        )
        size = self.random.randint(1, 8) * 2 * MIB
        made = Object(account, 0 if memory == "imported-vmm" else size)
        made.full_size = size
        made.handles.append(self.trace.alloc(made.size, memory, self.fresh()))
        self.objects.append(made)
        self.counts[account][0] += 1

    def map(self):
        target = self.choose(lambda o: o.handles)
        if target:
            place = PLACE + self.fresh() * MIB
            self.trace.map(self.random.choice(target.handles), place, target.full_size)
            target.places.add(place)
            target.size = target.full_size

    def unmap(self):
        target = self.choose(lambda o: o.places)
        if target:
            self.trace.unmap(target.places.pop(), target.full_size)

    def retain(self):
        target = self.choose(lambda o: o.places)
        if target:
            again = target.handles and self.random.random() < 0.5
            handle = self.random.choice(target.handles) if again else self.fresh()
            inside = self.random.choice(sorted(target.places)) + self.random.randrange(2 * MIB)
            self.trace.event("retain", "vmm", inside, object=handle)
            target.handles.append(handle)

    def release(self):
        target = self.choose(lambda o: o.handles)
        if target:
            handle = target.handles.pop(self.random.randrange(len(target.handles)))
            self.trace.free(handle, "vmm")

    def contain(self):
        memory = self.random.choice(["multicast", "array"])
        handle = self.trace.alloc(0, memory, self.fresh())
        self.containers[handle] = memory
        if memory == "array":
            self.counts["driver"][0] += 1

    def bind(self):
        target = self.choose(lambda o: o.handles or o.places)
        if target and self.containers:
            container = self.random.choice(sorted(self.containers))
            place = self.fresh() * MIB
            if target.handles:
                memory, name = "vmm", target.handles[0]
            else:
                memory, name = "none", min(target.places)
            self.trace.event("bind", memory, place, MIB, object=name, stream=container)
            target.bound.add((container, place))

    def unbind(self):
        target = self.choose(lambda o: o.bound)
        if target:
            container, place = target.bound.pop()
            self.trace.event("unbind", "none", place, MIB, stream=container)

    def drop(self):
        if self.containers:
            container = self.random.choice(sorted(self.containers))
            memory = self.containers.pop(container)
            self.trace.free(container, "vmm" if memory == "multicast" else "array")
            self.counts["driver"][1] += memory == "array"
            for held in self.objects:
                held.bound = {bound for bound in held.bound if bound[0] != container}

    def open(self):
        again = self.imports and self.random.random() < 0.5
        address = self.random.choice(sorted(self.imports)) if again else self.fresh() << 30
        size, opens = self.imports.get(address, (self.random.randint(1, 9) * MIB, 0))
        self.trace.alloc(size, "imported", address)
        self.imports[address] = (size, opens + 1)
        self.counts["imported"][0] += 1

    def close(self):
        if self.imports:
            address = self.random.choice(sorted(self.imports))
            size, opens = self.imports.pop(address)
            if opens > 1:
                self.imports[address] = (size, opens - 1)
            self.trace.free(address, self.random.choice(["imported", "async", "linear"]))
            self.counts["imported"][1] += 1

    def launch(self):
        before, self.graph = self.graph, self.random.choice([0, 2, 32, 64]) * MIB
        self.trace.graph_usage(self.graph, 96 * MIB)
        self.counts["driver"][0] += bool(self.graph and not before)
        self.counts["driver"][1] += bool(before and not self.graph)

    def step(self):
        self.random.choice(
            [self.create, self.map, self.map, self.unmap, self.retain, self.release, self.release,
             self.contain, self.bind, self.bind, self.unbind, self.drop, self.open, self.close,
             self.launch]
        )()  # fmt: skip
        self.settle()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_somebody_refers_to_is_live_and_nothing_else(tmp_path, seed):
    books = Books(Trace(tmp_path / "trace.db"), seed)
    for _ in range(EVENTS):
        books.step()
    report = load_json("report", books.trace.write())
    (device,) = report["devices"]
    assert report["warnings"] == []
    for account, (allocations, frees) in books.counts.items():
        figures = device[account]
        assert (figures["allocations"], figures["frees"]) == (allocations, frees), account
        assert figures["live_at_exit_bytes"] == books.live(account), account
        assert figures["peak_bytes"] == books.peaks[account], account
