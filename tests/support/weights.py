# SPDX-License-Identifier: MIT
"""Writes safetensors and GGUF files. A test can set every value, including to a wrong one."""
import json
import struct


def safetensors(tensors, *, header=None, length=None, more=b""):
    """Returns the bytes of a safetensors file. tensors: {name: (dtype, shape, number of bytes)}; header: a JSON text
    that replaces the correct header."""
    told, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, size) in tensors.items():
        told[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = (json.dumps(told) if header is None else header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text) if length is None else length) + text + bytes(at) + more


def one(dtype="F32", shape=(2, 3), offsets=(0, 24), name="w", size=24):
    """Returns the bytes of a file with one tensor of this description."""
    info = json.dumps({name: {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}})
    return safetensors({}, header=info) + bytes(size)


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    """Returns a key with its value, in the form of GGUF. kind: 4 for an integer of 32 bits, 8 for a text, 9 for a list
    (given as bytes)."""
    return string(name) + struct.pack("<I", kind) + (string(value) if kind == 8 else value if kind == 9 else struct.pack("<I", value))


def gguf(tensors, keys=(), *, version=3, counts=None, alignment=32, offset=None, cut=0):
    """Returns the bytes of a GGUF file. tensors: [(name, number of the type, dimensions from the innermost to the
    outermost, number of bytes)]."""
    infos, at = b"", 0
    for name, number, dims, size in tensors:
        place = at if offset is None else offset
        infos += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, number, place)
        at += size + -size % alignment
    head = b"GGUF" + struct.pack("<IQQ", version, *(counts or (len(tensors), len(keys)))) + b"".join(keys) + infos
    whole = head + bytes(-len(head) % alignment + at)
    return whole[: len(whole) - cut]
