# SPDX-License-Identifier: MIT
"""Has what the programs of this folder share: allocates and notes the stack that Python sees.

The first argument of each program is the CUDA runtime. The second is the file that write_expected() writes. For each
allocation it has a line with a JSON list: [address, [[file, function, line], …]], with the innermost frame first. """
import ctypes
import json
import sys
import traceback

RUNTIME = ctypes.CDLL(sys.argv[1])
FRAMES_MAX = 128  # the recorder's default
LINES = []


def now(frame):
    """Returns traceback's entries for this frame and its callers. Python 3.11 and later have qualified names."""
    summary = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
    names = [
        getattr(each.f_code, "co_qualname", each.f_code.co_name)
        for each, _ in traceback.walk_stack(frame)
    ]
    return [[entry.filename, name, entry.lineno or 0] for entry, name in zip(summary, names)]


def allocate():
    pointer = ctypes.c_void_p()
    # Both calls stand on one line, so that traceback and the recorder see the same line number.
    stack, _ = now(sys._getframe()), RUNTIME.cudaMalloc(ctypes.byref(pointer), 512)
    LINES.append([pointer.value, stack[:FRAMES_MAX]])
    return pointer.value


def write_expected():
    with open(sys.argv[2], "w", encoding="utf-8", errors="surrogateescape") as output:
        for line in LINES:
            output.write(json.dumps(line) + "\n")
