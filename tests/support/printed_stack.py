# SPDX-License-Identifier: MIT
"""Makes traces from programs that print their own stack and modules (tests/programs/stack/print_stack.h)."""
import subprocess

from support.run import TIMEOUT_S, load_json
from support.tracefile import Trace


class PrintedStack:
    """A stack that a program printed. `modules` are rows for the table of that name. `addresses` are return addresses,
    innermost first."""

    def __init__(self, program):
        output = subprocess.run([program], capture_output=True, text=True, check=True, timeout=TIMEOUT_S).stdout
        words = [line.split() for line in output.splitlines()]
        self.output = output
        self.modules = [
            [number, path, None if build_id == "-" else build_id, *map(int, addresses)]
            for number, (_, path, build_id, *addresses) in enumerate(
                (row for row in words if row[0] == "module"), 1
            )
        ]
        self.addresses = [int(row[1]) for row in words if row[0] == "frame"]
        # In a sanitized build, the sanitizer's own backtrace() adds a frame in front, which is dropped here.
        while not self.is_own(self.addresses[0]):
            del self.addresses[0]

    @property
    def own(self):
        """Returns the module of the program itself."""
        return self.modules[0]

    def is_own(self, address):
        return self.own[4] <= address < self.own[5]

    def own_addresses(self):
        return [address for address in self.addresses if self.is_own(address)]

    def write(self, path, addresses=None):
        """Writes a trace with one allocation and returns its path. The allocation has this stack, or the part of it in
        `addresses`."""
        trace = Trace(path)
        trace.rows["module"] = [tuple(module) for module in self.modules]
        trace.alloc(1, stack=trace.stack(*(self.addresses if addresses is None else addresses)))
        return trace.write()


def frames_of(trace, *options):
    (device,) = load_json("peak", trace, *options)["devices"]
    return device["sites"][0]["frames"]


def functions_of(trace, *options):
    return [frame["function"] for frame in frames_of(trace, *options)]
