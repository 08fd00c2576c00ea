# SPDX-License-Identifier: MIT
"""Writes traces by hand, event by event, so that the author of a test can compute its figures on paper.

The SQL of the documented trace format is written a second time here on purpose: the analyzer must read what the document
promises, not only what the recorder writes.

    trace = Trace(tmp_path / "a.db")
    a = trace.alloc(100)            # linear memory on device 0, at the next free address
    with trace.phase("forward"):
        trace.free(a)
    trace.write()
"""
import contextlib
import sqlite3

APPLICATION_ID, FORMAT = 0x474D5452, 2

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value);
CREATE TABLE event_kind (kind INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE memory_kind (memory INTEGER PRIMARY KEY, name TEXT NOT NULL, layer TEXT NOT NULL,
                          account TEXT NOT NULL);
CREATE TABLE hook (hook_id INTEGER PRIMARY KEY, name TEXT NOT NULL, api TEXT NOT NULL);
CREATE TABLE thread (thread_id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE device (device INTEGER PRIMARY KEY, uuid TEXT, name TEXT, total_bytes INTEGER,
                     context_bytes INTEGER);
CREATE TABLE string (string_id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE module (module_id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT,
                     load_address INTEGER NOT NULL, start_address INTEGER NOT NULL,
                     end_address INTEGER NOT NULL);
CREATE TABLE frame (frame_id INTEGER PRIMARY KEY, parent_id INTEGER, kind INTEGER NOT NULL,
                    address INTEGER NOT NULL);
CREATE TABLE location (location_id INTEGER PRIMARY KEY, function_id INTEGER NOT NULL,
                       file_id INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE TABLE symbol (address INTEGER NOT NULL, level INTEGER NOT NULL, function_id INTEGER NOT NULL,
                     file_id INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE TABLE coverage (name TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE job_variable (name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE allocator_setting (name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE framework (name TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE call_duration (seq INTEGER PRIMARY KEY, duration_ns INTEGER NOT NULL);
CREATE TABLE read_back (name TEXT NOT NULL, count INTEGER NOT NULL);
CREATE TABLE walk (walk_id INTEGER PRIMARY KEY, event_number INTEGER NOT NULL, reason TEXT NOT NULL,
                   objects_count INTEGER NOT NULL, stopped TEXT);
CREATE TABLE holder (walk_id INTEGER NOT NULL, address INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
                     kind TEXT NOT NULL, chain_id INTEGER NOT NULL, item TEXT, items_count INTEGER,
                     location_id INTEGER);
CREATE TABLE event (seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, thread_id INTEGER NOT NULL,
                    hook_id INTEGER NOT NULL, kind INTEGER NOT NULL, memory INTEGER NOT NULL,
                    address INTEGER NOT NULL, size_bytes INTEGER NOT NULL, object INTEGER NOT NULL,
                    stream INTEGER, result INTEGER, stack_id INTEGER,
                    call_id INTEGER NOT NULL, nested INTEGER NOT NULL, device INTEGER);
"""

KINDS = (
    "none alloc free map unmap context-create context-destroy pool-create pool-destroy pool-usage "
    "device-memory phase-push phase-pop mark step exit retain bind unbind module-load module-unload "
    "limit exit-undone host-memory autograd-node module-path capture-begin capture-end graph-made "
    "graph-destroy process-memory pool-limit pool-asked"
).split()
MEMORIES = (
    "none linear pitched array async vmm managed pinned registered imported tensor vmm-host "
    "async-host async-managed imported-vmm external graph graph-node reservation mapped "
    "mapped-array multicast module limit"
).split()

MIB = 1 << 20
STEP_NS = 1000  # time between two events


class Trace:
    """A trace whose events have the sequence numbers 1, 2, 3 … and the times 1000, 2000, 3000 … ns."""

    def __init__(self, path, complete=1, **meta):
        self.path = path
        self.events = []
        self.rows = {"device": [], "hook": [], "module": [], "coverage": [], "frame": [],
                     "symbol": []}
        self.strings = {}
        self.locations = {}
        self.frames = {}
        self.meta = {
            "pid": 4242, "command": "python train.py", "host": "node1", "complete": complete,
            "lost_events": 0, "start_unix_ns": 1_700_000_000_000_000_000, **meta,
        }
        self.next_address = 0x7F0000000000
        self.thread = 1
        self.thread_names = {}

    # --- names ---

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def stack(self, *frames):
        """Returns the id of a stack. Its frames are given innermost first: stack("malloc_wrapper", ("train.py", 12,
        "main")).

        A text is a label, a tuple a Python frame, an integer a native return address.
        """
        parent = None
        for frame in reversed(frames):
            if isinstance(frame, int):
                kind, address = 0, frame
            elif isinstance(frame, tuple):
                file, line, function = frame
                place = (self.string(function), self.string(file), line)
                kind, address = 1, self.locations.setdefault(place, len(self.locations) + 1)
            else:
                kind, address = 2, self.string(frame)
            parent = self.frames.setdefault((parent, kind, address), len(self.frames) + 1)
        return parent

    def name(self, address, *frames):
        """Adds the names of a native address in the form in which `resolve` writes them. Each frame is (file, line,
        function); they are given innermost first."""
        for level, (file, line, function) in enumerate(frames):
            file_id = self.string(file) if file else 0
            self.rows["symbol"].append((address, level, self.string(function), file_id, line or 0))

    def device(self, number=0, uuid=None, name=None, total_bytes=None):
        self.rows["device"].append((number, uuid, name, total_bytes, None))

    # --- events ---

    def event(self, kind, memory="none", address=0, size=0, object=0, stream=0, result=0,
              stack=None, call=0, nested=0, device=None, thread=None, hook=0):
        seq = len(self.events) + 1
        self.events.append((
            seq, seq * STEP_NS, thread or self.thread, hook, KINDS.index(kind),
            MEMORIES.index(memory), address, size, object, stream, result, stack, call, nested,
            device,
        ))
        return seq

    def alloc(self, size, memory="linear", address=None, device=0, **columns):
        """Adds an allocation and returns its address. By default, this is an address that was not used before."""
        if address is None:
            address = self.next_address
            self.next_address += -(-size // (2 * MIB)) * 2 * MIB or 2 * MIB
        self.event("alloc", memory, address, size, device=device, **columns)
        return address

    def fail(self, size, memory="linear", result=2, device=0, **columns):
        return self.event("alloc", memory, 0, size, result=result, device=device, **columns)

    def free(self, address, memory="linear", **columns):
        return self.event("free", memory, address, **columns)

    def tensor(self, address, size, pool=None, **columns):
        return self.alloc(size, "tensor", address, object=pool and self.string(pool) or 0, **columns)

    def filled_segment(self, size):
        """Adds a segment of a framework's pool that is filled by one tensor. Returns its address."""
        segment = self.alloc(size)
        self.tensor(segment, size)
        return segment

    def tensor_free(self, address, pool=None, **columns):
        return self.free(address, "tensor", object=pool and self.string(pool) or 0, **columns)

    def push(self, name, source=0, range_id=0, domain=None, **columns):
        return self.event("phase-push", address=range_id, size=source, object=self.string(name),
                          stream=self.string(domain) if domain else 0, **columns)

    def pop(self, source=0, range_id=0, **columns):
        return self.event("phase-pop", address=range_id, size=source, **columns)

    @contextlib.contextmanager
    def phase(self, name, **columns):
        self.push(name, **columns)
        yield
        self.pop(**columns)

    def step(self, number):
        return self.event("step", size=number)

    def device_memory(self, free, total, device=0, **columns):
        return self.event("device-memory", address=free, size=total, device=device, **columns)

    def card(self, total, context):
        """Adds a device on which only a context uses memory."""
        self.device(total_bytes=total)
        self.device_memory(total - context, total)

    def pool_usage(self, pool, used, reserved, device=0, **columns):
        return self.event("pool-usage", columns.pop("memory", "none"), used, reserved, pool,
                          device=device, **columns)

    def graph_usage(self, used, reserved, device=0, **columns):
        return self.pool_usage(0, used, reserved, device, memory="graph", **columns)

    def map(self, handle, address, size, **columns):
        return self.event("map", "vmm", address, size, object=handle, **columns)

    def unmap(self, address, size, **columns):
        return self.event("unmap", "vmm", address, size, **columns)

    def measured(self, kind, before, after, total=1 << 34, call=1, nested=0, hook=0, thread=None,
                 device=0, inside=None, **columns):
        """Adds a call that took `before` minus `after` bytes of free memory. inside() runs between the samples of
        `before` and `after`."""
        sample = dict(call=call, nested=1, hook=hook, thread=thread, device=device)
        self.device_memory(before, total, **sample)
        if inside:
            inside()
        self.device_memory(after, total, **sample)
        return self.event(kind, call=call, nested=nested, hook=hook, thread=thread, device=device,
                          **columns)

    def module(self, handle, before, after, **columns):
        return self.measured("module-load", before, after, object=handle, **columns)

    def limit(self, number, value, before, after, context=0xC0, **columns):
        return self.measured("limit", before, after, address=number, size=value, object=context,
                             **columns)

    def walk(self, reason, *held):
        """Adds a walk over Python's objects, which sees the blocks that are live now. held: one (address, size, kind,
        chain, number of items, line that stores it, as for stack()) for each storage; the last two may be None."""
        walks = self.rows.setdefault("walk", [])
        walks.append((len(walks) + 1, len(self.events), reason, 1000, None))
        for address, size, kind, chain, items, place in held:
            file, line, function = place or (None, None, None)
            where = place and (self.string(function), self.string(file), line)
            location = where and self.locations.setdefault(where, len(self.locations) + 1)
            self.rows.setdefault("holder", []).append(
                (len(walks), address, size, kind, self.string(chain), items and "0", items, location))

    def host_memory(self, rss, cgroup=None, limit=None, rss_peak=None, cgroup_peak=None):
        figures = {"rss_bytes": rss, "rss_peak_bytes": rss_peak or rss, "cgroup_bytes": cgroup,
                   "cgroup_peak_bytes": cgroup_peak or cgroup, "cgroup_limit_bytes": limit}
        self.meta |= {key: value for key, value in figures.items() if value is not None}

    def exit(self, how=0):
        return self.event("exit", object=how)

    # --- the file ---

    def write(self):
        database = sqlite3.connect(self.path)
        database.execute("PRAGMA synchronous = OFF")  # it takes longer to wait for a disk than to run any test
        database.executescript(TABLES)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {FORMAT}")
        threads = sorted({event[2] for event in self.events})
        rows = {
            **self.rows,
            "meta": list(self.meta.items()),
            "thread": [(thread, 1000 + thread, self.thread_names.get(thread, f"thread {thread}")) for thread in threads],
            "string": [(number, text) for text, number in self.strings.items()],
            "location": [(number, *place) for place, number in self.locations.items()],
            "frame": [(number, *frame) for frame, number in self.frames.items()],
            "event": self.events,
        }
        for table, values in rows.items():
            for value in values:
                marks = ",".join("?" * len(value))
                database.execute(f"INSERT INTO {table} VALUES ({marks})", value)
        database.commit()
        database.close()
        return self.path

    def written(self):
        """Writes the trace if that was not done before, and returns its path."""
        return self.path if self.path.exists() else self.write()
