# SPDX-License-Identifier: MIT
"""Readers of PyTorch's memory snapshot. Python's own unpickler loads the snapshot, after a check that no opcode runs
code."""
import pickle
import pickletools

# The opcodes that MemoryViz.js, the page of memory_viz, supports. None of them names a class or calls anything.
KNOWN = set("""PROTO EMPTY_DICT EMPTY_LIST MARK SETITEM SETITEMS APPENDS BINUNICODE BININT1 BININT2 LONG1 TUPLE2 NEWTRUE
    NEWFALSE LONG_BINPUT LONG_BINGET STOP""".split())


def load(path):
    data = path.read_bytes()
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(data)}
    assert opcodes <= KNOWN
    return pickle.loads(data)


def segments(snapshot):
    """Returns {(device, address): (size, free bytes, {address of a live block: size})}; asserts that the blocks of each
    segment fill it without gaps."""
    found = {}
    for segment in snapshot["segments"]:
        at, blocks = segment["address"], {}
        for block in segment["blocks"]:
            assert block["address"] == at and block["size"] > 0
            at += block["size"]
            if block["state"] == "active_allocated":
                blocks[block["address"]] = block["size"]
        assert at == segment["address"] + segment["total_size"]
        assert segment["allocated_size"] == segment["active_size"] == sum(blocks.values())
        found[segment["device"], segment["address"]] = (segment["total_size"], segment["total_size"] - sum(blocks.values()), blocks)
    return found


class Followed:
    """Follows the events of one device. Has the state after all events: live blocks, segments, highest live bytes,
    failures."""

    def __init__(self, events):
        self.blocks, self.pieces, self.most_live, self.failures = {}, {}, 0, []
        for event in events:
            getattr(self, event["action"])(event)
            self.most_live = max(self.most_live, sum(self.blocks.values()))

    def alloc(self, event):
        assert any(start <= event["addr"] < start + size for start, size in self.pieces.items())
        assert self.blocks.setdefault(event["addr"], event["size"]) == event["size"]

    def free_requested(self, event):
        assert self.blocks[event["addr"]] == event["size"]

    def free_completed(self, event):
        del self.blocks[event["addr"]]

    def segment_alloc(self, event):
        self.pieces[event["addr"]] = event["size"]

    def segment_free(self, event):
        assert self.pieces.pop(event["addr"]) == event["size"]

    segment_map, segment_unmap = segment_alloc, segment_free

    def oom(self, event):
        self.failures.append((event["size"], event["device_free"]))
