# SPDX-License-Identifier: MIT
"""Prints the tensor sizes that PyTorch's profiler sees, and whether c10 is in the process's global scope."""
import ctypes
import json

import torch

SIZES = [1 << 20, 3 << 20, 512, 40 << 20]


def main():
    torch.empty(1, device="cuda")
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        for size in SIZES:
            torch.empty(size, dtype=torch.uint8, device="cuda")
    told = [event.nbytes() for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    try:
        is_global = bool(ctypes.CDLL(None)._ZN3c1015GetCPUAllocatorEv)
    except AttributeError:
        is_global = False
    print(json.dumps({"sizes": SIZES, "told": told, "c10_is_global": is_global}))


main()
