# SPDX-License-Identifier: MIT
"""moment() marks the trace and writes down what PyTorch itself says of its memory right then. What was
written goes to the file that MOMENTS names, when the script ends. Without the recorder it only writes."""
import atexit
import ctypes
import json
import os
import time

import torch

_mark = getattr(ctypes.CDLL(None), "gpumemtrace_mark", lambda text: None)
_moments = []


def moment(note="", model=None, optimizer=None, saved=None, tensors=None):
    """With a model, also which blocks hold its parameters, gradients and the optimizer's states; with
    `saved`, of a block `with saved_for_backward(…) as saved`, how much was kept for backward; with
    tensors, how many bytes they have."""
    _mark(f"moment {len(_moments)}".encode())
    told = {"note": note, "devices": [_device(i) for i in range(torch.cuda.device_count())],
            "segments": [_segment(s) for s in _snapshot()["segments"]]}
    if model:
        told["held"] = _holdings(told["segments"], model, optimizer)
    if saved:
        told["saved"] = _bytes_at(told["segments"], saved.places)
    if tensors:
        told["bytes"] = sum(t.untyped_storage().nbytes() for t in tensors)
    _moments.append(told)


class saved_for_backward:
    """Counts the tensors that autograd keeps, once for each storage; those of the model and the inputs
    are there anyway."""

    def __init__(self, model, *inputs):
        self.known = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers(), *inputs]}
        self.places = set()

    def pack(self, tensor):
        if tensor.is_cuda:
            self.places |= {tensor.untyped_storage().data_ptr()} - self.known
        return tensor

    def __enter__(self):
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)


def _holdings(segments, model, optimizer):
    states = [t for state in optimizer.state.values() for t in state.values() if torch.is_tensor(t)]
    return {
        "parameters": _blocks_of(segments, [*model.parameters(), *model.buffers()]),
        "gradients": _blocks_of(segments, [p.grad for p in model.parameters() if p.grad is not None]),
        "optimizer": _blocks_of(segments, states),
    }


def _blocks_of(segments, tensors):
    return _bytes_at(segments, {t.untyped_storage().data_ptr() for t in tensors if t.is_cuda})


def _bytes_at(segments, places):
    """Bytes of the blocks that hold these addresses, each block once."""
    blocks = [block for segment in segments for block in segment["blocks"]]
    return sum(b["size"] for b in blocks if any(b["address"] <= p < b["address"] + b["size"] for p in places))


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
    blocks, address = [], segment["address"]
    for block in segment["blocks"]:  # PyTorch 2.0 does not say where they lie, which is one after the other
        blocks.append({"address": block.get("address", address), "size": block["size"], "state": block["state"]})
        address += block["size"]
    return {"device": segment["device"], "address": segment["address"], "size": segment["total_size"],
            "blocks": blocks, "pool": segment.get("segment_pool_id")}


@atexit.register
def _write():
    # The thread of the last backward still drops what it holds; where Python ends meanwhile (until 3.13),
    # PyTorch 2.15 ends by abort(), recorded or not.
    time.sleep(0.1)
    if "MOMENTS" in os.environ:
        with open(os.environ["MOMENTS"], "w", encoding="utf-8") as file:
            json.dump(_moments, file)
