# SPDX-License-Identifier: MIT
"""Lets Python call functions of the program when Python does something, and prints how often it called them. The argument
says which functions: "trace" for sys.settrace and sys.setprofile, "collect" for gc.callbacks; else the name of an event that
a hook of sys.addaudithook forbids."""
import collections
import ctypes
import gc
import sys

import torch

calls = collections.Counter()
holders = ctypes.CDLL(None).gpumemtrace_holders
kept = [torch.zeros(1 << 16, device="cuda") for _ in range(10)]


def trace(frame, event, _):
    calls[frame.f_code.co_name, event] += 1
    return trace


def collected(phase, facts):
    calls[phase, facts["generation"]] += 1


class Guard:
    def forbid(self, event, _):
        if event == sys.argv[1]:
            raise RuntimeError(event)


def work():
    for number in range(100):
        kept.append(torch.zeros(1 << 16, device="cuda"))
        if number % 30 == 0:
            holders()


if sys.argv[1] == "trace":
    sys.settrace(trace)
    sys.setprofile(trace)
elif sys.argv[1] == "collect":
    gc.callbacks.append(collected)
else:
    sys.addaudithook(Guard().forbid)
work()
sys.settrace(None)
sys.setprofile(None)
print(len(kept), sorted(calls.items()))
