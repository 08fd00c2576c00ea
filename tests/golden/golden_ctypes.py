# SPDX-License-Identifier: MIT
"""Allocates from Python through ctypes: in a method, a generator, a thread, and a function that C calls
back. ctypes.txt has the stacks, with the line numbers of this file."""
import ctypes
import threading

CUDA = ctypes.CDLL("libcudart.so.13")
LIBC = ctypes.CDLL(None)


def allocate(mebibytes):
    block = ctypes.c_void_p()
    assert CUDA.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(mebibytes << 20)) == 0


class Model:
    def forward(self):
        allocate(4)


def batches():
    allocate(3)
    yield


def load():
    for _ in batches():
        pass


def call_back():
    """Calls bsearch, which is written in C, between two functions in Python."""

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def compare(_left, _right):
        allocate(2)
        return 0

    one = ctypes.c_size_t(1)
    LIBC.bsearch(b"key", b"items", one, one, compare)


def main():
    Model().forward()
    load()
    call_back()
    thread = threading.Thread(target=allocate, args=(1,))
    thread.start()
    thread.join()


main()
