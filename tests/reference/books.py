# SPDX-License-Identifier: MIT
"""Reads a trace slowly and plainly: finds the changes that its events made to memory, by the rules of TRACE-FORMAT.md
and of the table "What each event does" in that file. The code looks at every event once and keeps everything. It shares
no code with the analyzer."""

import collections
import dataclasses
import re

from reference import outside
from reference.events import Beside, Forwards, Tables, caller_of, inferred_phase, table_rows
from reference.graphs import KINDS as OF_GRAPHS

# A span that opens inside a span of this depth becomes its sibling.
DEEPEST = 1024
OUT_OF_MEMORY, SHUTTING_DOWN = 2, 4
CONTEXT_IS_GONE = (4, 201, 709)
EXEC, INTERPRETER = 2, 3

# The address space of each kind of memory. All kinds that are not listed share one space, which covers all devices.
SPACES = {
    "array": "array", "mapped array": "array", "pinned host": "host", "registered host": "host",
    "virtual": "handle", "virtual host": "handle", "imported virtual": "handle", "multicast": "handle",
    "external": "external", "address range": "range", "graph node": "node", "none": None,
}  # fmt: skip
WITH_CONTEXT = {"linear", "pitched", "array", "managed", "pinned host", "registered host", "module", "limit"}
STREAM_ORDERED = ("stream-ordered", "stream-ordered host", "stream-ordered managed")

DOMAINS = [row[0] for row in table_rows("library_domains.def", "DOMAIN")]

Sample = collections.namedtuple("Sample", "index device free total own")


def is_library_domain(name):
    """True if the NVTX domain belongs to a library or to a part of a library."""
    return any(re.match(re.escape(own) + r"(?![a-z0-9])", name, re.I | re.A) for own in DOMAINS)


@dataclasses.dataclass(eq=False)
class Path:
    name: str
    text: str
    source: str


@dataclasses.dataclass(eq=False)
class Span:
    path: Path
    parent: "Span"
    depth: int
    thread: int
    begin: int
    end: int  # index of the event that ends the span; the number of counted events while the span is open
    range_id: int = 0
    callers: dict = dataclasses.field(default_factory=dict)  # {rank: Python frames of the first}
    ordinal: int = 0  # number of spans that began before it


@dataclasses.dataclass(eq=False)
class Block:
    account: tuple  # (device, kind, pool)
    address: int
    size: int
    memory: str
    stack: int
    begin: int
    span: Span
    thread: int
    mempool: object = None
    owner: int = 0  # the context that the allocation names
    end: int = None
    how: str = None  # freed, implicit, lost, resized
    ender: int = None  # the thread that freed the block
    death_span: Span = None
    is_segment: bool = False
    segment_since: int = None  # the event that showed that it is a segment
    inferred: Span = None  # the inferred phase of its birth
    is_of_graph: bool = False  # autograd recorded the operator that allocated it
    forward: int = 0  # stack of its forward operator; 0: none

    @property
    def site(self):
        return self.stack, self.forward


@dataclasses.dataclass(eq=False)
class Mempool:
    device: int
    handle: int
    memory: str
    is_graph: bool
    is_gone: bool = False
    is_reported: bool = False
    reports: list = dataclasses.field(default_factory=list)  # (event, used, reserved)


@dataclasses.dataclass(eq=False)
class Physical:
    """Physical memory: a VMM object or a multicast object."""

    block: Block
    handles: list = dataclasses.field(default_factory=list)
    mappings: set = dataclasses.field(default_factory=set)
    bindings: list = dataclasses.field(default_factory=list)  # (container block, offset)


@dataclasses.dataclass(eq=False)
class Range:
    """Driver memory that the pool of a framework may cut into pieces."""

    address: int
    size: int
    begin: int
    block: Block
    physical: Physical = None
    end: int = None
    pool_account: tuple = None
    stream: int = None

    def overlaps(self, address, size):
        return self.address < address + size and address < self.address + self.size


@dataclasses.dataclass
class Context:
    handle: int
    device: int
    begin: int
    is_primary: bool


@dataclasses.dataclass
class Count:
    allocations: int = 0
    frees: int = 0
    failed: int = 0
    implicit: int = 0
    lost: int = 0


class Books(Tables):
    def __init__(self, path):
        super().__init__(path)
        self.blocks, self.changes = [], []  # a change: (event, block, is birth, span)
        self.counts = collections.defaultdict(Count)  # by account, in the order of each account's first event
        self.devices = set()
        self.failures, self.steps = [], []  # a failure: (event, account, span)
        self.unknown_frees = self.in_flight = self.unmatched_pops = self.library_ranges = 0
        self.beside = Beside()
        self.left_out, self.unfreed = set(), set()  # numbers of the open NVTX ranges of libraries; blocks whose free failed
        self.spans, self.open, self.paths, self.inferred, self.forwards = [], [], {}, None, Forwards()
        self.autograd_records = {}  # by thread: True while the thread runs an operator that a backward will go through
        self.ranges, self.mempools, self.samples, self.told = [], [], [], {}
        self.live, self.reopened, self.physicals, self.nodes = {}, {}, [], set()
        self.contexts, self.last_destroyed = {}, {}
        self.count = self.find_end()
        for event in self.events[: self.count]:
            self.take(event)

    def find_end(self):
        """Returns how many events count: those up to the exit. Without meta.exit_seq, the exit is the first exit event
        that does not belong to an exec or an interpreter."""
        if "exit_seq" in self.meta:
            return 1 + next(event.index for event in self.events if event.seq == self.meta["exit_seq"])
        for event in self.events:
            if event.kind == "exit" and event.object not in (EXEC, INTERPRETER):
                return event.index + 1
        return len(self.events)

    # --- phases ---

    def named_span(self, thread):
        own = [span for span in self.open if span.thread == thread]
        return own[-1] if own else self.open[-1] if self.open else None

    def current_span(self, event):
        return self.named_span(event.thread) or self.beside.span(event, self.inferred)

    def path(self, parent, name, source, string):
        if (parent, string, source) not in self.paths:
            self.paths[parent, string, source] = Path(name, f"{parent.text}/{name}" if parent else name, source)
        return self.paths[parent, string, source]

    def add_span(self, path, parent, event, range_id=0):
        span = Span(path, parent, parent.depth + 1 if parent else 1, event.thread, event.index, self.count, range_id)
        span.ordinal = len(self.spans)
        self.spans.append(span)
        return span

    def push(self, event):
        parent = self.named_span(event.thread)
        if parent and parent.depth >= DEEPEST:
            parent = parent.parent
        source = "nvtx" if event.size == 1 else "api"
        if source == "nvtx" and event.address and is_library_domain(self.strings.get(event.stream, "")):
            self.library_ranges += 1
            for span in self.open:
                if span.range_id == event.address and span.path.source == "nvtx":
                    span.range_id = -1
            self.left_out.add(event.address)
            return
        if source == "nvtx":
            self.left_out.discard(event.address)
        path = self.path(parent.path if parent else None, self.strings[event.object], source, event.object)
        if event.address:  # if several ranges have this number, it means the newest one
            for span in self.open:
                if span.range_id == event.address and span.path.source == source:
                    span.range_id = -1
        self.open.append(self.add_span(path, parent, event, event.address))

    def pop(self, event):
        source = "nvtx" if event.size == 1 else "api"
        for span in reversed(self.open):
            mine = span.range_id == event.address if event.address else not span.range_id and span.thread == event.thread
            if mine and span.path.source == source:
                span.end = event.index
                self.open.remove(span)
                return
        if source == "nvtx" and event.address in self.left_out:
            self.left_out.remove(event.address)
            return
        self.unmatched_pops += 1

    def infer(self, event):
        """Opens a new inferred phase if the allocation's stack tells that a phase begins."""
        if self.account_kind[event.memory] not in ("device", "managed", "pool"):
            return
        now = self.inferred.path.name if self.inferred else None
        recorded = event.memory == "tensor" and self.autograd_records.get(event.thread, False)
        if self.beside.note(self, event, recorded):
            return
        phase = inferred_phase(self, event.stack, now, recorded)
        if self.forwards.follow(self, event.stack, phase != now, recorded) if phase == "forward" else phase != now:
            if self.inferred:
                self.inferred.end = event.index
            self.inferred = self.add_span(self.path(None, phase, "inferred", phase), None, event)
        rank, frames = caller_of(self, event.stack)
        for span in (self.inferred, self.named_span(event.thread)):
            while span and rank:
                span.callers.setdefault(rank, frames)
                span = span.parent

    # --- blocks ---

    def account(self, event, memory, pool=0):
        """Returns the account that counts the bytes of this memory."""
        self.devices.add(event.device)
        kind = self.account_kind[memory]
        account = (event.device, kind, pool if kind == "pool" else 0)
        self.counts.setdefault(account, Count())
        return account

    def begin(self, event, memory, size, account=None, stack=None, counts=True, **more):
        account = account or self.account(event, memory, event.object)
        span = self.current_span(event)
        stack = event.stack or 0 if stack is None else stack
        block = Block(account, event.address, size, memory, stack, event.index, span, event.thread, **more)
        block.inferred = self.beside.span(event, self.inferred)
        block.is_of_graph = memory == "tensor" and self.autograd_records.get(event.thread, False)
        self.blocks.append(block)
        self.changes.append((event.index, block, True, span))
        self.counts[account].allocations += counts
        return block

    def finish(self, event, block, how):
        block.end, block.how, block.ender, block.death_span = event.index, how, event.thread, self.current_span(event)
        self.changes.append((event.index, block, False, block.death_span))
        count = self.counts[block.account]
        count.frees += how == "freed"
        count.implicit += how == "implicit"
        count.lost += how == "lost"
        for known in self.ranges:
            if known.block is block and known.physical is None and known.end is None:
                known.end = event.index
        self.live = {place: other for place, other in self.live.items() if other is not block}
        self.drop_bindings(event, block, 0, 1 << 64, None)

    def resize(self, event, block, size, stack=None):
        self.finish(event, block, "resized")
        return self.begin(
            event, block.memory, size, block.account, block.stack if stack is None else stack, counts=False, mempool=block.mempool
        )

    def fail(self, event, memory):
        account = self.account(event, memory, event.object)
        self.counts[account].failed += 1
        if account[1] != "none" and (event.kind == "alloc" or event.result == OUT_OF_MEMORY):
            self.failures.append((event, account, self.current_span(event)))

    def space(self, event):
        if event.memory == "tensor":
            return ("tensor", event.object)
        return SPACES.get(event.memory, "device")

    # --- allocations and frees ---

    def alloc(self, event):
        space, memory, mempool = self.space(event), event.memory, None
        self.tell(event)
        if memory in STREAM_ORDERED and event.object and (event.result or event.address):
            mempool = self.find_mempool(event)
            memory = mempool.memory
        if space is None:
            return
        if event.result:
            self.fail(event, memory)
        elif not event.address:
            pass
        elif space == "node":
            self.nodes.add(event.address)
        elif space == "handle":
            block = self.begin(event, memory, event.size)
            self.take_handle(Physical(block), event.address)
        else:
            self.alloc_plain(event, space, memory, mempool)

    def alloc_plain(self, event, space, memory, mempool):
        old = self.live.get((space, event.address))
        if old and old.memory == memory == "imported":
            self.reopened[old] = self.reopened.get(old, 0) + 1
            self.counts[old.account].allocations += 1
            return
        if old:
            self.finish(event, old, "lost")
        block = self.begin(event, memory, event.size, mempool=mempool, owner=event.object)
        self.live[space, event.address] = block
        if space == "device":
            self.ranges.append(Range(event.address, event.size, event.index, block))
        if memory == "tensor" and event.size:
            for held in self.ranges:
                if (
                    held.end is None
                    and held.pool_account is None
                    and held.size
                    and held.overlaps(event.address, event.size)
                ):
                    held.pool_account, held.block.is_segment, held.stream = block.account, True, event.stream
                    held.block.segment_since = event.index if held.block.segment_since is None else held.block.segment_since

    def free(self, event):
        space = self.space(event)
        if not event.address:
            return
        if space == "handle":
            self.free_handle(event)
            return
        block = self.live.get((space, event.address))
        if not block:
            of_node = event.address in self.nodes and space in ("node", "device")
            self.unknown_frees += event.result == 0 and space != "node" and not of_node
        elif event.result and self.context_took(event, block):
            self.finish(event, block, "implicit")
        elif event.result:
            self.unfreed.update([block] if event.result != SHUTTING_DOWN else [])
        elif self.reopened.get(block):
            self.reopened[block] -= 1
            self.counts[block.account].frees += 1
        else:
            self.finish(event, block, "freed")

    # --- virtual memory ---

    def take_handle(self, physical, handle):
        for other in self.physicals:
            if other is not physical and handle in other.handles:
                raise ValueError("a handle of two objects")
        if physical not in self.physicals:
            self.physicals.append(physical)
        physical.handles.append(handle)

    def by_handle(self, handle):
        return next((physical for physical in self.physicals if handle in physical.handles), None)

    def by_address(self, address):
        return next((r.physical for r in self.ranges if r.physical and r.end is None and r.overlaps(address, 1)), None)

    def end_if_unused(self, event, physical):
        if not (physical.handles or physical.mappings or physical.bindings) and physical.block.end is None:
            self.finish(event, physical.block, "freed")

    def free_handle(self, event):
        if event.result:
            return
        physical = self.by_handle(event.address)
        if not physical:
            self.unknown_frees += 1
            return
        physical.handles.remove(event.address)
        self.end_if_unused(event, physical)

    def retain(self, event):
        physical = self.by_address(event.address) or self.by_handle(event.object)
        if not event.result and physical:
            self.take_handle(physical, event.object)

    def map(self, event):
        physical = self.by_handle(event.object)
        if event.result or not event.size or not physical:
            return
        if physical.block.memory == "imported virtual" and event.size > physical.block.size:
            physical.block = self.resize(event, physical.block, event.size)
        physical.mappings.add(event.address)
        self.ranges.append(Range(event.address, event.size, event.index, physical.block, physical))

    def unmap(self, event):
        if event.result:
            return
        for held in self.ranges:
            if held.physical and held.end is None and event.address <= held.address < event.address + event.size:
                held.end = event.index
                held.physical.mappings.remove(held.address)
                self.end_if_unused(event, held.physical)

    # --- bindings ---

    def container(self, handle):
        physical = self.by_handle(handle)
        if physical and physical.block.memory == "multicast":
            return physical.block
        array = self.live.get(("array", handle))
        return array if array and array.memory == "array" else None

    def drop_bindings(self, event, container, start, size, device):
        for physical in self.physicals:
            kept = [
                (where, at)
                for where, at in physical.bindings
                if where is not container
                or not start <= at < start + size
                or device not in (None, physical.block.account[0])
            ]
            if len(kept) != len(physical.bindings):
                physical.bindings = kept
                self.end_if_unused(event, physical)

    def bind(self, event):
        physical = self.by_address(event.object) if event.memory == "none" else self.by_handle(event.object)
        container = self.container(event.stream)
        if event.result or not physical or not container or physical.block.memory == "multicast":
            return
        # This extra entry keeps drop_bindings() from ending the object, which may be bound at this place already.
        physical.bindings.append((None, 0))
        self.drop_bindings(event, container, event.address, event.size, physical.block.account[0])
        physical.bindings[physical.bindings.index((None, 0))] = (container, event.address)

    def unbind(self, event):
        container = self.container(event.stream)
        if not event.result and container:
            self.drop_bindings(event, container, event.address, event.size, event.device)

    # --- the driver's pools ---

    def new_mempool(self, event, memory, is_graph=False):
        self.mempools.append(Mempool(event.device, event.object, memory, is_graph))
        return self.mempools[-1]

    def find_mempool(self, event, is_graph=False):
        for mempool in reversed(self.mempools):
            same = mempool.device == event.device if is_graph else mempool.handle == event.object
            if same and mempool.is_graph == is_graph and not mempool.is_gone:
                if mempool.device is None:  # setting an attribute does not tell the pool's device
                    mempool.device = event.device
                return mempool
        return self.new_mempool(event, "graph pool" if is_graph else "stream-ordered", is_graph)

    def pool_create(self, event):
        if not event.result:
            for old in self.mempools:
                old.is_gone |= not old.is_graph and old.handle == event.object
            self.new_mempool(event, event.memory if event.memory in STREAM_ORDERED else "stream-ordered")

    def pool_destroy(self, event):
        if event.result:
            return
        for mempool in self.mempools:
            if not mempool.is_graph and not mempool.is_gone and mempool.handle == event.object:
                mempool.is_gone = True
                used = sum(block.size for block in self.blocks if block.mempool is mempool and block.end is None)
                if mempool.is_reported:
                    mempool.reports.append((event.index, used, 0))

    def pool_usage(self, event):
        is_graph = event.memory == "graph pool"
        mempool = self.find_mempool(event, is_graph)
        mempool.is_reported = True
        mempool.reports.append((event.index, event.address, event.size))
        if not is_graph:
            return
        held, used = [block for block in self.blocks if block.mempool is mempool and block.end is None], event.address
        if held and not used:
            self.finish(event, held[0], "freed")
        elif held and held[0].size != used:
            self.resize(event, held[0], used, event.stack)
        elif used and not held:
            self.begin(event, event.memory, used, mempool=mempool)

    # --- contexts, modules, limits ---

    def context_create(self, event):
        if event.result == OUT_OF_MEMORY:
            self.fail(event, "module")
        elif not event.result:
            by_program = self.hooks.get(event.hook, "").startswith("cuCtxCreate")
            self.contexts[event.object] = Context(event.object, event.device, event.index, not by_program)

    def context_destroy(self, event):
        if event.result:
            return
        gone = self.contexts.pop(event.object, None) or Context(event.object, event.device, 0, event.object == 0)
        self.last_destroyed[gone.device] = event.index
        for block in [block for block in self.blocks if block.end is None]:
            if block.memory in WITH_CONTEXT and gone.device in (None, block.account[0]) and self.lived_in(block, gone):
                self.finish(event, block, "implicit")

    def lived_in(self, block, gone):
        if block.owner:
            owner = self.contexts.get(block.owner)
            return block.owner == gone.handle if gone.handle else owner is None or owner.is_primary
        return gone.device is not None and block.begin >= gone.begin

    def context_took(self, event, block):
        return event.result in CONTEXT_IS_GONE and block.begin < self.last_destroyed.get(block.account[0], -1)

    def device_memory(self, event):
        if event.result or event.device is None:
            return
        own = sum(block.size for block in self.blocks if block.end is None and block.account[0] == event.device
                  and block.account[1] in ("device", "context"))  # fmt: skip
        self.samples.append(Sample(event.index, event.device, event.address, event.size, own))

    def tell(self, event):
        """Links this allocation to the newest sample that its thread took inside a call, if that call made the
        allocation."""
        inside = [self.events[sample.index] for sample in self.samples if self.events[sample.index].nested]
        waiting = [one for one in inside if one.thread == event.thread and one.index not in self.told]
        if waiting and event.call and (waiting[-1].call, waiting[-1].hook) == (event.call, event.hook):
            self.told[waiting[-1].index] = event.index

    def taken(self, event):
        """Returns by how many bytes the card's free memory fell between the two samples inside this call, minus the
        growth of known blocks."""
        inside = [
            sample for sample in self.samples
            for other in [self.events[sample.index]]
            if other.nested and (other.thread, other.call, other.hook) == (event.thread, event.call, event.hook)
        ]  # fmt: skip
        if inside:
            self.told[inside[-1].index] = event.index
        if len(inside) < 2 or inside[-1].device != inside[-2].device:
            return 0
        before, after = inside[-2:]
        return before.free - after.free - (after.own - before.own)

    def module_load(self, event):
        if event.device is None:
            return
        size = self.taken(event)
        if event.result:
            self.fail(event, "module")
            return
        old = self.live.get(("module", event.object))
        if old:
            self.finish(event, old, "lost")
        self.live["module", event.object] = self.begin(event, "module", max(size, 0))

    def module_unload(self, event):
        block = self.live.get(("module", event.object))
        if block and (event.result == 0 or self.context_took(event, block)):
            self.finish(event, block, "implicit" if event.result else "freed")

    def limit(self, event):
        size, key = self.taken(event), ("limit", event.object, event.address)
        if event.result:
            self.fail(event, "limit")
            return
        old = self.live.get(key)
        if old:
            size += old.size
            self.finish(event, old, "freed")
        self.live[key] = self.begin(event, "limit", max(size, 0), owner=event.object)

    # --- one event ---

    def step(self, event):
        self.steps.append(event.index)

    def take(self, event):
        if event.device is not None:
            self.devices.add(event.device)
        if event.result is None:
            self.in_flight += 1
            return
        if event.kind == "autograd-node":
            self.autograd_records[event.thread] = 0 < event.object and event.address < 1 << 32 and event.size != 1
        if event.kind == "alloc":
            self.infer(event)
        handler = {"phase-push": "push", "phase-pop": "pop"}.get(event.kind, event.kind.replace("-", "_"))
        if event.kind not in ("mark", "exit", "exit-undone", "autograd-node", "pool-asked", *outside.KINDS, *OF_GRAPHS):
            getattr(self, handler)(event)
