# SPDX-License-Identifier: MIT
"""An allocation fails although enough memory is free, because small tensors pin segments that held large ones.
A later one fails because the device is full. Prints PyTorch's figures of the first of these two failures."""
import json

import torch

from moments import moment

MIB = 1 << 20


def new(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def holes():
    return [block["size"] for segment in torch.cuda.memory._snapshot()["segments"]
            for block in segment["blocks"] if block["state"] == "inactive"]


def main():
    moment("start")
    large, small = [], []
    try:
        while True:
            segment = new(100 * MIB)
            del segment
            large.append(new(90 * MIB))
            small.append(new(10 * MIB))
            if len(large) % 2 == 0:
                moment("filling")
    except torch.cuda.OutOfMemoryError:
        moment("filled")
    large.clear()
    moment("large ones given back")
    try:
        new(200 * MIB)
    except torch.cuda.OutOfMemoryError:
        moment("fragmented")
        print(json.dumps({"asked_bytes": 200 * MIB, "idle_bytes": sum(holes()), "largest_hole_bytes": max(holes()),
                          "device_free_bytes": torch.cuda.mem_get_info()[0]}))
    try:
        while True:
            small.append(new(90 * MIB))
    except torch.cuda.OutOfMemoryError:
        moment("exhausted")
    for _ in range(12):
        small.pop(0)
        moment("giving back")


main()
