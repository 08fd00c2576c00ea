# SPDX-License-Identifier: MIT
"""A made-up process whose blocks are tensors in PyTorch's pool."""
from support.tracefile import MIB, Trace


class PoolRun:
    CARD_MIB = 1000

    def __init__(self, path, **meta):
        self.trace = Trace(path, **meta)
        self.trace.device(total_bytes=self.CARD_MIB * MIB)

    def alloc(self, mib, *frames):
        return self.trace.alloc(mib * MIB, "tensor", stack=self.trace.stack(*frames))

    def free(self, *blocks):
        for block in blocks:
            self.trace.free(block, "tensor")

    def fail(self, mib, *frames):
        self.trace.fail(mib * MIB, "tensor", stack=self.trace.stack(*frames))
