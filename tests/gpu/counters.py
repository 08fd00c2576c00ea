# SPDX-License-Identifier: MIT
"""Makes allocations with one real program's allocator between two marks and prints the allocator's own counters.

    python3 counters.py ctypes|torch|torch-expandable|cupy|jax

One line of JSON: {"blocks": number of requested blocks, "own_bytes": bytes that the allocator says it took from the
driver for these blocks, "driver_bytes": the same bytes as cuMemGetInfo counts them}, or {"reason": text}. """
import ctypes
import json
import os
import sys

MIB = 1 << 20
SIZES = [3 * MIB, 33 * MIB, 64 * MIB + 5, 128 * MIB, 20 * MIB]


def mark(text):
    function = getattr(ctypes.CDLL(None), "gpumemtrace_mark", None)
    if function:
        function(text.encode())


class Missing(Exception):
    """The program cannot run here; the message says why."""


def measure(allocate, own_bytes, free_bytes):
    own, free = own_bytes(), free_bytes()
    mark("begin")
    kept = [allocate(size) for size in SIZES]
    mark("end")
    return {"blocks": len(kept), "own_bytes": own_bytes() - own, "driver_bytes": free - free_bytes()}


def of_ctypes():
    try:
        runtime = ctypes.CDLL(os.environ.get("MATRIX_RUNTIME", "libcudart.so.13"))
    except OSError as error:
        raise Missing(str(error)) from None
    taken = []

    def allocate(size):
        address = ctypes.c_void_p()
        if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            raise Missing("cudaMalloc failed")
        taken.append(size)

    def free_bytes():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
        return free.value

    allocate(1)
    return measure(allocate, lambda: sum(taken), free_bytes)


def of_torch():
    try:
        import torch
    except ImportError as error:
        raise Missing(str(error)) from None
    if not torch.cuda.is_available():
        raise Missing("PyTorch finds no CUDA device")

    def allocate(size):
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    first = allocate(1)
    result = measure(allocate, torch.cuda.memory_reserved, lambda: torch.cuda.mem_get_info()[0])
    del first
    return result


def of_torch_expandable():
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    return of_torch()


def of_cupy():
    try:
        import cupy
    except ImportError as error:
        raise Missing(str(error)) from None

    def allocate(size):
        return cupy.empty(size, dtype=cupy.uint8)

    first = allocate(1)
    pool = cupy.get_default_memory_pool()
    result = measure(allocate, pool.total_bytes, lambda: cupy.cuda.runtime.memGetInfo()[0])
    del first
    return result


def of_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    try:
        import jax
        import numpy
    except ImportError as error:
        raise Missing(str(error)) from None
    device = jax.devices()[0]
    if device.platform != "gpu" and device.platform != "cuda":
        raise Missing(f"JAX runs on {device.platform}")

    def allocate(size):
        return jax.device_put(numpy.empty(size, dtype=numpy.uint8), device).block_until_ready()

    def own_bytes():
        stats = device.memory_stats()
        return stats.get("pool_bytes", stats.get("bytes_reserved", stats["bytes_in_use"]))

    driver = ctypes.CDLL("libcuda.so.1")

    def free_bytes():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        return free.value

    first = allocate(1)
    result = measure(allocate, own_bytes, free_bytes)
    del first
    return result


PROGRAMS = {
    "ctypes": of_ctypes,
    "torch": of_torch,
    "torch-expandable": of_torch_expandable,
    "cupy": of_cupy,
    "jax": of_jax,
}


def main():
    try:
        result = PROGRAMS[sys.argv[1]]()
    except Missing as error:
        result = {"reason": str(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
