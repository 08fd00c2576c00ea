# SPDX-License-Identifier: MIT
"""Computes the owner of every byte of a card, as doc/counting.md defines the ledger, from the blocks of Books alone. It
shares no code with the analyzer."""

import fnmatch

from reference import outside
from reference.events import role_rules
from reference.heading import host_memory
from reference.holes import Holes, join

GRANULE = 2 << 20
SOURCES = {"rounding": "assumed", "modules": "difference", "context": "difference", "growth": "difference", "own_context": "NVML", "others": "NVML"}
ROLES = list(role_rules())


def role_of_file(file):
    return next((role for role, where, pattern in ROLES if where == "file" and fnmatch.fnmatchcase(file, pattern)), "program")


class Ledger:
    def __init__(self, figures, device, index):
        self.figures, self.books, self.device, self.index = figures, figures.books, device, index
        self.terms = {}
        self.add_driver_blocks()
        self.add_kept_by_driver()
        self.add("modules", None, sum(block.size for block in self.live("context")))
        self.process = sum(bytes_ for bytes_, _ in self.terms.values())
        self.add_card()

    def add(self, owner, name, bytes_, count=0):
        before, blocks = self.terms.get((owner, name), (0, 0))
        if bytes_:
            self.terms[owner, name] = before + bytes_, blocks + count

    def live(self, kind, pool=0):
        return self.figures.live_blocks((self.device, kind, pool), self.index)

    def is_there(self, thing):
        return thing.begin <= self.index and (thing.end is None or thing.end > self.index)

    # --- whose a block is ---

    def segments(self, account):
        return [r for r in self.books.ranges if r.pool_account == account and self.is_there(r)]

    def home(self, block):
        """Returns the pool of this device that cuts the plain block into pieces, or None."""
        for held in self.books.ranges:
            if held.block is block and not held.physical and held.pool_account and held.pool_account[0] == self.device:
                return held.pool_account
        return None

    def owner(self, block):
        """Returns the owner that follows from the first frame that is neither a label nor Python's own. Random traces
        have no native frames."""
        if block.memory == "graph pool":
            return "graphs"
        files = [file for kind, _, file, _ in self.books.stack_frames(block.stack) if kind == "python"]
        return "program" if any(role_of_file(file) in ("program", "framework") for file in files) else "unknown"

    def add_driver_blocks(self):
        pools = self.figures.pools(self.device)
        mapped = {account: sum(r.size for r in self.segments(account) if r.physical) for account in pools}
        held, objects = dict.fromkeys(pools, 0), 0
        for block in self.live("device"):
            home = self.home(block) if block.is_segment else None
            if block.memory == "virtual" and block.is_segment and any(mapped.values()):
                objects += block.size
            elif home:
                held[home] += block.size
            else:
                self.add(self.owner(block), None, block.size, 1)
        for account in pools:
            share = min(mapped[account], objects)
            held[account] += share
            objects -= share
        if objects:
            held[next(account for account in pools if mapped[account])] += objects
        for account in pools:
            tensors = self.live("pool", account[2])
            bytes_ = min(sum(block.size for block in tensors), held[account])
            self.add("pool_live", self.figures.pool_name(account), bytes_, len(tensors))
            of_graphs = min(self.free_in_graphs(account, tensors), held[account] - bytes_)
            self.add("pool_graphs", self.figures.pool_name(account), of_graphs)
            self.add("pool_cached", self.figures.pool_name(account), held[account] - bytes_ - of_graphs)

    def free_in_graphs(self, account, tensors):
        held = [r for r in self.segments(account) if self.figures.graphs.is_of_graph(r, self.index)]
        stretches = [(r.address, r.address + r.size) for r in held]
        return Holes(stretches, [(block.address, block.address + block.size) for block in tensors]).total

    def add_kept_by_driver(self):
        account = (self.device, "device", 0)
        reserved = self.figures.driver_parts(account, self.index)[0]
        live = self.live("device")
        idle = {"stream-ordered": 0, "graph pool": 0}
        for mempool in self.books.mempools:
            reports = [kept for when, _, kept in mempool.reports if when <= self.index]
            if reports and mempool.device == self.device and mempool.memory in idle:
                idle[mempool.memory] += max(reports[-1] - sum(block.size for block in live if block.mempool is mempool), 0)
        free = reserved - sum(block.size for block in live)
        if free >= 0:
            self.add("mempools", None, idle["stream-ordered"])
            self.add("graphs_idle", None, idle["graph pool"])
            self.add("rounding", None, free - sum(idle.values()))

    # --- the card ---

    def add_card(self):
        total, context = self.books.cards.get(self.device, (None, None))
        free = self.figures.card_free(self.device, self.index)
        sample = self.figures.sample(self.device, self.index)
        self.source = "card" if sample else "first-look" if context is not None else None
        self.total = sample.total if sample else total
        self.used = self.unaccounted = self.beyond = self.told = None
        if not self.source:
            return
        self.used = sample.total - free if sample else self.process + context
        self.used = min(self.used, self.total or self.used)
        most = max(self.used - (context or 0), 0)  # what the card denies, the process does not keep
        for owner, most in (("mempools", most), ("graphs_idle", self.used), ("rounding", self.used)):
            bytes_, _ = self.terms.pop((owner, None), (0, 0))
            kept = max(bytes_ - max(self.process - most, 0), 0)
            self.process -= bytes_ - kept
            self.add(owner, None, kept)
        if context is None:
            context = max(self.used - self.process, 0)
        self.told = outside.at(self.figures, self.device, self.index)
        if self.told:
            context, others = max(self.told[0] - self.process, 0), sum(size for size, _ in self.told[1])
        else:
            others = 0
        others = min(others, max(self.used - self.process, 0))
        context = min(context, max(self.used - self.process - others, 0))
        self.add("own_context" if self.told else "context", None, context)
        self.add("others", None, others)
        self.beyond = self.unaccounted = self.used - self.process - context - others
        if self.beyond > 0 and not self.told:
            self.add("growth", None, self.beyond)
            self.unaccounted = 0

    def row(self, at):
        account = lambda kind: sum(block.size for block in self.live(kind))  # noqa: E731
        return {
            "at": at,
            **self.figures.stamp(self.index),
            "used_bytes": self.used,
            "total_bytes": self.total,
            "used_source": self.source,
            "process_bytes": self.process,
            "unaccounted_bytes": self.unaccounted,
            "managed_bytes": account("managed"),
            "imported_bytes": account("imported"),
            "terms": [
                {"owner": owner, "name": name, "bytes": bytes_, "blocks": count or None, "source": SOURCES.get(owner, "counted"),
                 "share_ratio": bytes_ / self.used if self.used else None}
                for (owner, name), (bytes_, count) in self.terms.items()
            ],
        }


def fullest(figures, device):
    """Returns the first moment at which pools had handed out the most memory, among the moments at which the driver's
    memory is at its peak."""
    driver = figures.live((device, "device", 0))
    peak, first = figures.peak((device, "device", 0))
    pools = [figures.live(account) for account in figures.pools(device)]
    highest = [index for index, live in enumerate(driver) if live == peak]
    return None if first is None else max(highest, key=lambda index: (sum(live[index] for live in pools), -index))


def moments(figures, device, at):
    if at:
        index = figures.moment(at, (device, "device", 0))
        return [(at, index)] if index is not None else []
    found = [("peak", fullest(figures, device))]
    failed = [
        (f"oom:{number}", event.index)
        for number, (event, account) in enumerate(((one.event, one.account) for one in figures.failures.list), 1)
        if account[0] == device
    ]
    found += failed[-1:]
    found += [("end", figures.books.count - 1)] if figures.books.count else []
    return [(name, index) for name, index in found if index is not None]


def ledger_page(figures, at=None):
    devices = []
    for device in figures.devices:
        rows = [Ledger(figures, device, index).row(name) for name, index in moments(figures, device, at)]
        devices.append({"device": device, "moments": rows})
    return {"devices": devices}


def pinned(figures, device):
    """Returns the pinned host memory of a device at its peak; {} if there was none."""
    account = (device, "host", 0)
    peak, index = figures.peak(account)
    if not peak:
        return {}
    blocks = figures.live_blocks(account, index)
    pieces = join(
        (b.address // GRANULE * GRANULE, -(-(b.address + b.size) // GRANULE) * GRANULE)
        for b in blocks if b.memory == "pinned host"
    )  # fmt: skip
    others = sum(b.size for b in blocks if b.memory != "pinned host")
    taken = others + sum(end - start for start, end in pieces)
    return {"pinned_peak_bytes": peak, "pinned_taken_bytes": taken, "pinned_sites": figures.sites(account, index)}


def ledger_command_page(figures, at=None):
    """Returns what `ledger` prints, with the parts that `report` leaves out."""
    page = ledger_page(figures, at)
    rows = [{**row, **pinned(figures, row["device"])} for row in page["devices"]]
    return {"devices": rows, **host_memory(figures.books)}


def closing(page):
    """Returns a line for each device and moment whose terms do not add up exactly to the bytes in use."""
    found = []
    for device in page["devices"]:
        for row in device["moments"]:
            terms = sum(term["bytes"] for term in row["terms"])
            if row["used_bytes"] is not None and terms + row["unaccounted_bytes"] != row["used_bytes"]:
                found.append(f"device {device['device']} at {row['at']}: {terms} + {row['unaccounted_bytes']} is not {row['used_bytes']}")
    return found
