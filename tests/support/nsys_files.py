# SPDX-License-Identifier: MIT
"""Writes exports of Nsight Systems by hand, by the schema in the manual of that tool, which is not installed here."""
import sqlite3

from support.tracefile import MIB

PID, OTHER_PID, START = 4242, 4243, 5_000_000_000
ALLOCATE, FREE = 0, 1
PINNED, DEVICE, ARRAY, MANAGED, DEVICE_STATIC = 1, 2, 3, 4, 5
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
    memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER, module INTEGER, unresolved INTEGER, originalIP INTEGER,
    stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT NOT NULL, totalMemory INTEGER NOT NULL, uuid TEXT NOT NULL);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
"""


def global_pid(pid):
    return 1 << 56 | pid << 24


class Export:
    """A database in the form in which Nsight Systems exports it. Each memory event has its own correlation id. This id
    names the runtime call that contains the event."""

    def __init__(self, path, tables=TABLES):
        self.path, self.strings, self.calls = path, {}, 0
        path.unlink(missing_ok=True)
        self.database = sqlite3.connect(path)
        self.database.executescript(tables)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.database.execute("INSERT INTO StringIds VALUES (?, ?)", (self.strings[text], text))
        return self.strings[text]

    def stack(self, number, *symbols):
        """Adds a call chain with this number. The symbols are given innermost first."""
        for depth, symbol in enumerate(symbols):
            self.database.execute("INSERT INTO CUDA_CALLCHAINS VALUES (?, ?, 0, 0, 0, ?)", (number, self.string(symbol), depth))

    def event(self, time, operation, address, size, kind=DEVICE, api="cudaMalloc_v3020", stack=None, device=0, pid=PID, tid=7, stream=None, pool=None):
        self.calls += 1
        self.database.execute(
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?, ?, ?, 1, ?, 0, ?, ?, ?, NULL, ?, ?, ?)",
            (START + time, global_pid(pid), device, address, size, kind, operation, self.calls, stream, pool))  # fmt: skip
        self.database.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, ?)",
            (START + time, START + time + 1, global_pid(pid) | tid, self.calls, self.string(api), stack))  # fmt: skip

    def run(self, sql):
        self.database.execute(sql)

    def write(self):
        self.database.commit()
        self.database.close()
        return self.path


def small(path):
    export = Export(path)
    export.stack(3, "cudaMalloc", "make(int)", "main")
    export.event(0, ALLOCATE, 0x7F0000000000, 4 * MIB, stack=3)
    export.event(1000, ALLOCATE, 0x7F0000400000, MIB, MANAGED, "cudaMallocManaged_v6000", tid=8)
    export.event(2000, ALLOCATE, 0x7F0000800000, 2 * MIB, api="cudaMallocAsync_v11020", stack=3, stream=14, pool=0x99)
    export.event(3000, ALLOCATE, 0x10, 512, PINNED, "cudaMallocHost_v3020")
    export.event(4000, FREE, 0x7F0000000000, 4 * MIB, api="cudaFree_v3020")
    export.run("INSERT INTO TARGET_INFO_GPU VALUES (5, 'NVIDIA H100', 85520809984, 'GPU-1')")
    export.run(f"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5, 0, {PID})")
    return export
