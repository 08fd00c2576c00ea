# SPDX-License-Identifier: MIT
"""Lets RMM write a log and prints RMM's own counts of the same calls as JSON. No card is needed: the memory below RMM's
adaptors is made up. RMM asks the driver only which device is current, and this program answers that itself."""
import itertools
import json
import threading

import rmm.mr
from rmm.pylibrmm.memory_resource import _memory_resource

_memory_resource.getDevice = lambda: 0
addresses = itertools.count(1 << 40, 1 << 24)


def allocate(size, _):
    if size > 1 << 33:
        raise MemoryError("it is full")
    return next(addresses)


log = rmm.mr.LoggingResourceAdaptor(rmm.mr.CallbackMemoryResource(allocate, lambda *_: None), log_file_name="rmm.csv")
counted = rmm.mr.StatisticsResourceAdaptor(log)


def work():
    blocks = []
    for number in range(15):
        size = number * 7919 % 100_000 + 1
        blocks.append((counted.allocate(size), size))
        if number % 3 == 2:
            counted.deallocate(*blocks.pop(number % len(blocks)))
    for block in blocks[:3]:
        counted.deallocate(*block)


for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
failures = 0
try:
    counted.allocate(1 << 34)
except MemoryError:
    failures += 1
log.flush()
figures = counted.allocation_counts
print(json.dumps({"log": log.get_file_name(), "peak_live_bytes": figures.peak_bytes, "live_at_exit_bytes": figures.current_bytes,
                  "allocations": figures.total_count, "frees": figures.total_count - figures.current_count,
                  "failed": failures}))  # fmt: skip
