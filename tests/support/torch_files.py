# SPDX-License-Identifier: MIT
"""Writes snapshots of PyTorch by hand, in the form of torch.cuda.memory._snapshot."""
import pickle

from support.tracefile import MIB

SEGMENT = 0x7F0000000000
FORWARD = [{"name": "forward", "filename": "/home/me/model.py", "line": 12}, {"name": "<module>", "filename": "/home/me/train.py", "line": 3}]
NATIVE = [{"name": "at::empty_cuda(c10::IntArrayRef)", "filename": "??", "line": 0}, *FORWARD]


def entry(action, address, size, time_us=None, frames=FORWARD, **more):
    key = "device_free" if action == "oom" else "addr"
    times = {} if time_us is None else {"time_us": 1_700_000_000_000_000 + time_us}
    return {"action": action, key: address, "size": size, "stream": 0, "frames": frames, **times, **more}


def block(size, state="inactive", requested=0, frames=()):
    return {"size": size, "requested_size": requested, "state": state, "frames": list(frames)}


def segment(address, *blocks, device=0, expandable=False, stream=0):
    return {"device": device, "address": address, "total_size": sum(item["size"] for item in blocks), "stream": stream,
            "segment_type": "large", "is_expandable": expandable, "blocks": list(blocks)}  # fmt: skip


def snapshot(*segments, traces=((),), settings=None):
    return {"segments": list(segments), "device_traces": [list(trace) for trace in traces],
            "allocator_settings": settings or {}, "external_annotations": []}  # fmt: skip


def write(path, value, protocol=4):
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    return path


def small():
    """Returns a snapshot of one segment of 20 MiB, with three blocks: one from before the history, one that the history
    allocates and frees, and one that the history allocates and that stays."""
    return snapshot(
        segment(SEGMENT, block(MIB, "active_allocated", MIB - 100), block(2 * MIB, "active_allocated", 2 * MIB, NATIVE), block(17 * MIB)),
        traces=[[entry("alloc", SEGMENT + 3 * MIB, 5 * MIB, 10), entry("alloc", SEGMENT + MIB, 2 * MIB, 20, NATIVE),
                 entry("free_requested", SEGMENT + 3 * MIB, 5 * MIB, 30), entry("free_completed", SEGMENT + 3 * MIB, 5 * MIB, 31)]],
    )  # fmt: skip
