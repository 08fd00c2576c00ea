# SPDX-License-Identifier: MIT
"""moment() marks the trace and writes down what PyTorch itself says of its memory right then. What was
written goes to the file that MOMENTS names, when the script ends. Without the recorder it only writes."""
import atexit
import ctypes
import json
import os

import torch

_mark = getattr(ctypes.CDLL(None), "gpumemtrace_mark", lambda text: None)
_moments = []


def moment(note=""):
    _mark(f"moment {len(_moments)}".encode())
    _moments.append({"note": note, "devices": [_device(i) for i in range(torch.cuda.device_count())],
                     "segments": [_segment(s) for s in _snapshot()["segments"]]})


def _snapshot():
    if torch.cuda.get_allocator_backend() == "cudaMallocAsync":
        return {"segments": []}  # it has none
    return torch.cuda.memory._snapshot()


def _device(index):
    stats = torch.cuda.memory_stats(index)
    return {
        "allocated": torch.cuda.memory_allocated(index),
        "reserved": torch.cuda.memory_reserved(index),
        "max_allocated": torch.cuda.max_memory_allocated(index),
        "max_reserved": torch.cuda.max_memory_reserved(index),
        "ooms": stats.get("num_ooms", 0),
    }


def _segment(segment):
    blocks = [{"address": b["address"], "size": b["size"], "state": b["state"]} for b in segment["blocks"]]
    return {"device": segment["device"], "address": segment["address"], "size": segment["total_size"],
            "blocks": blocks}


@atexit.register
def _write():
    if "MOMENTS" in os.environ:
        with open(os.environ["MOMENTS"], "w", encoding="utf-8") as file:
            json.dump(_moments, file)
