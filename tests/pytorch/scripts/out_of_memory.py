# SPDX-License-Identifier: MIT
"""Runs out of memory in the way that the argument names; tests/pytorch/test_pytorch_oom.py has the right answers."""
import ctypes
import os
import sys

import torch

GIB, MIB = 1 << 30, 1 << 20
CUDA = ctypes.CDLL("libcudart.so.12")


def new(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def malloc(size):
    address = ctypes.c_void_p()
    return CUDA.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size))


def retry():
    """PyTorch frees 9 GiB of cached segments and then serves a request of 10 GiB."""
    cached = [new(GIB) for _ in range(9)]
    cached.clear()
    kept = new(10 * GIB)
    assert torch.cuda.memory_stats()["num_alloc_retries"] == 1 and torch.cuda.memory_stats()["num_ooms"] == 0
    return kept


def fatal():
    return [new(GIB) for _ in range(20)]


def caught():
    kept = []
    try:
        while True:
            kept.append(new(GIB))
    except torch.OutOfMemoryError:
        kept.clear()
    return new(GIB)


def handled_at_the_end():
    try:
        fatal()
    except torch.OutOfMemoryError:
        pass


def aborted():
    try:
        fatal()
    except torch.OutOfMemoryError:
        os.abort()


def backward():
    """Autograd's thread raises the exception, and the thread that called backward() catches it."""
    weight = torch.ones(GIB // 4, device="cuda", requires_grad=True)
    kept = [new(GIB) for _ in range(13)]
    try:
        (weight * weight).sum().backward()
    except torch.OutOfMemoryError:
        kept.clear()
    return new(GIB)


def fraction():
    torch.cuda.set_per_process_memory_fraction(0.5)
    return [new(GIB) for _ in range(20)]


def outside():
    for _ in range(10):
        assert malloc(GIB) == 0
    return [new(GIB) for _ in range(20)]


def cached():
    """The program's own cudaMalloc fails, because PyTorch's cache fills the card."""
    kept = [new(GIB) for _ in range(15)]
    small = [new(100 * MIB) for _ in range(7)]
    del kept[:6]
    small.clear()
    assert malloc(GIB) == 2
    return kept


def stream():
    """The idle memory belongs to another stream and lies in segments that are still in use."""
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        whole = [new(3 * GIB) for _ in range(5)]
        del whole
        large = [new(2 * GIB) for _ in range(5)]
        pins = [new(GIB - 2 * MIB) for _ in range(5)]
    del large
    new(2 * GIB)
    return pins


def graph():
    """A graph keeps 8 GiB in its private pool without live tensors; 7 GiB of tensors outside fill the card."""
    kept, captured = new(7 * GIB), torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        passing = new(8 * GIB)
        del passing
    new(2 * GIB)
    return kept, captured


def main():
    result = globals()[sys.argv[1]]()
    assert result is not main


main()
