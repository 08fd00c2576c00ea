# SPDX-License-Identifier: MIT
"""Queries the driver and NVML through their public C interfaces. Each argument is a query. The program
prints one line of JSON for each query.

    init       cuInit and a context on device 0      alloc MIB   allocates memory on device 0
    card N     NVML's facts about card N             cuda        the driver's facts about device 0
    system     NVML's facts about the system         wait        waits for a line on stdin
    names      NVML's answer to each function that follows
"""
import ctypes
import json
import sys

nvml, cuda = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.CDLL("libcuda.so.1")
PROCESS_BYTES = {"": 16, "_v2": 24, "_v3": 24}


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Memory2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")]


def must(status):
    assert status == 0, status


def text(function, *arguments):
    buffer = ctypes.create_string_buffer(96)
    must(function(*arguments, buffer, 96))
    return buffer.value.decode()


def numbers(function, card, count):
    values = [ctypes.c_uint(99) for _ in range(count)]
    status = function(card, *map(ctypes.byref, values))
    return status or [value.value for value in values]


def processes(card, version):
    count = ctypes.c_uint(0)
    function = getattr(nvml, "nvmlDeviceGetComputeRunningProcesses" + version)
    if function(card, ctypes.byref(count), None) == 0:
        return []
    size = PROCESS_BYTES[version]
    buffer = ctypes.create_string_buffer(size * count.value)
    must(function(card, ctypes.byref(count), buffer))
    rows = [buffer.raw[i * size : (i + 1) * size] for i in range(count.value)]
    return sorted([int.from_bytes(row[:4], sys.byteorder), int.from_bytes(row[8:16], sys.byteorder)] for row in rows)


def pci(card, version, size):
    buffer = ctypes.create_string_buffer(b"\xee" * (size + 4), size + 4)
    must(getattr(nvml, "nvmlDeviceGetPciInfo" + version)(card, buffer))
    assert buffer.raw[size:] == b"\xee" * 4  # NVML must not write behind the end of the struct
    return [buffer.raw[:16].rstrip(b"\0").decode(), buffer.raw[36:68].strip(b"\0").decode() if version == "_v3" else ""]


def handle(index):
    card = ctypes.c_void_p()
    must(nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(card)))
    return card


def card_of(index):
    card, other, plain, full = handle(index), ctypes.c_void_p(), Memory(), Memory2(version=ctypes.sizeof(Memory2) | 2 << 24)
    must(nvml.nvmlDeviceGetMemoryInfo(card, ctypes.byref(plain)))
    must(nvml.nvmlDeviceGetMemoryInfo_v2(card, ctypes.byref(full)))
    uuid = text(nvml.nvmlDeviceGetUUID, card)
    must(nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(other)))
    return {
        "memory": [plain.total, plain.free, plain.used],
        "memory_v2": [full.total, full.reserved, full.free, full.used],
        "wrong_version": nvml.nvmlDeviceGetMemoryInfo_v2(card, ctypes.byref(Memory2(version=1))),
        "uuid": uuid,
        "found_by_uuid": other.value == card.value,
        "unknown_uuid": nvml.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(other)),
        "name": text(nvml.nvmlDeviceGetName, card),
        "pci": [pci(card, "", 48), pci(card, "_v2", 52), pci(card, "_v3", 68)],
        "capability": numbers(nvml.nvmlDeviceGetCudaComputeCapability, card, 2),
        "mig": numbers(nvml.nvmlDeviceGetMigMode, card, 2),
        "index": numbers(nvml.nvmlDeviceGetIndex, card, 1),
        "encoder": numbers(nvml.nvmlDeviceGetEncoderUtilization, card, 2),
        "processes": [processes(card, version) for version in PROCESS_BYTES],
    }


def cuda_of():
    free, total, uuid = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.create_string_buffer(16)
    must(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
    must(cuda.cuDeviceGetUuid(uuid, 0))
    return {"memory": [total.value, free.value, total.value - free.value], "uuid": uuid.raw.hex()}


def system():
    version, count = ctypes.c_int(), ctypes.c_uint()
    must(nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(version)))
    must(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)))
    return {"driver": text(nvml.nvmlSystemGetDriverVersion), "cuda": version.value, "count": count.value}


def answers(names):
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    room, card = ctypes.create_string_buffer(4096), handle(0)
    found = {}
    for name in names:
        status = getattr(nvml, name)(card, room, ctypes.byref(room, 1024), ctypes.byref(room, 2048))
        found[name] = [status, nvml.nvmlErrorString(status).decode()]
    return found


def main():
    words = iter(sys.argv[1:])
    must(nvml.nvmlInit_v2())
    for word in words:
        said = None
        if word == "init":
            context = ctypes.c_void_p()
            must(cuda.cuInit(0))
            must(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
        elif word == "alloc":
            address = ctypes.c_ulonglong()
            must(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(int(next(words)) << 20)))
        elif word == "card":
            said = card_of(int(next(words)))
        elif word == "cuda":
            said = cuda_of()
        elif word == "system":
            said = system()
        elif word == "names":
            said = answers(list(words))
        elif word == "wait":
            print(json.dumps("ready"), flush=True)
            sys.stdin.readline()
        if said is not None:
            print(json.dumps(said), flush=True)


main()
