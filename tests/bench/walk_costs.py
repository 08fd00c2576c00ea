# SPDX-License-Identifier: MIT
"""Measures what one walk of holders costs this process, which holds TENSORS tensors and OBJECTS lists:

    python walk_costs.py TENSORS OBJECTS

Prints "WALK_MS LOOP_MS ADDED_MIB REST_MS": CPU ms of a walk, CPU ms of the loop over gc.get_objects() that people write by
hand, what the walk adds to the highest resident memory, and CPU ms of a walk when only a reference cycle keeps them all. The
times are the lowest of three. """
import ctypes
import gc
import resource
import sys
import time

import torch

PARTS = 3


def lowest_ms(work):
    spent = []
    for _ in range(PARTS):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return 1e3 * min(spent)


def loop():
    return sum(value.untyped_storage().nbytes() for value in gc.get_objects() if isinstance(value, torch.Tensor))


def main():
    tensors, objects = map(int, sys.argv[1:])
    kept = [torch.empty(1000, device="cuda") for _ in range(tensors)]
    others = [[] for _ in range(objects)]
    looped = lowest_ms(loop)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    walked = lowest_ms(ctypes.CDLL(None).gpumemtrace_holders)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cycle = [kept, others]
    cycle.append(cycle)
    gc.disable()
    del kept, others, cycle
    rest = lowest_ms(ctypes.CDLL(None).gpumemtrace_holders)
    print(walked, looped, (after - before) / 1024, rest)


main()
