# SPDX-License-Identifier: MIT
"""moment() marks the trace and stores PyTorch's own figures of its memory at that moment. When the script ends,
all figures are written to the file that MOMENTS names. Without the recorder there is no mark."""
import atexit
import ctypes
import json
import os
import time

import torch

_mark = getattr(ctypes.CDLL(None), "gpumemtrace_mark", lambda text: None)
_moments = []


def moment(note="", model=None, optimizer=None, saved=None, tensors=None):
    """Stores a moment. `model`: also the bytes of the blocks of its parameters, its gradients and the optimizer's states.
    `saved`, from `with saved_for_backward(…) as saved`: also the bytes that autograd saved for backward.
    `tensors`: also their bytes."""
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
    """Collects the addresses of the storages that autograd saves, each once, without those of the model and the
    inputs, which exist anyway, and without autocast's copies of weights."""

    def __init__(self, model, *inputs):
        self.known = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers(), *inputs]}
        self.places = set()

    def pack(self, tensor):
        if tensor.is_cuda and not _is_copy_of_parameter(tensor.grad_fn):
            self.places |= {tensor.untyped_storage().data_ptr()} - self.known
        return tensor

    def __enter__(self):
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)


def _is_copy_of_parameter(node):
    """True if the tensor's node leads to a parameter through copies in another type, and views of them."""
    while node and type(node).__name__ in ("ToCopyBackward0", "TBackward0", "TransposeBackward0", "ViewBackward0"):
        ((node, _),) = node.next_functions
    return type(node).__name__ == "AccumulateGrad"


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
    """Returns the bytes of the blocks that contain these addresses; counts each block once."""
    blocks = [block for segment in segments for block in segment["blocks"]]
    return sum(b["size"] for b in blocks if any(b["address"] <= p < b["address"] + b["size"] for p in places))


def _snapshot():
    if torch.cuda.get_allocator_backend() == "cudaMallocAsync":
        return {"segments": []}  # this backend has no segments
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
    for block in segment["blocks"]:  # PyTorch 2.0 gives no addresses of blocks; they follow each other
        blocks.append({"address": block.get("address", address), "size": block["size"], "state": block["state"]})
        address += block["size"]
    return {"device": segment["device"], "address": segment["address"], "size": segment["total_size"],
            "blocks": blocks, "pool": segment.get("segment_pool_id")}


@atexit.register
def _write():
    # Autograd's thread still frees the tensors of the last backward. If Python (up to 3.13) ends meanwhile,
    # PyTorch 2.15 calls abort(), with or without the recorder.
    time.sleep(0.1)
    if "MOMENTS" in os.environ:
        with open(os.environ["MOMENTS"], "w", encoding="utf-8") as file:
            json.dump(_moments, file)
