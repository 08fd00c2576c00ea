# SPDX-License-Identifier: MIT
"""Python calls C, which calls Python back: one allocation inside two callbacks of qsort, one inside a
destructor, one inside the method of a plus sign, one inside code without unwind information.

    python order.py RUNTIME EXPECTED

Prints the addresses: "callbacks ADDRESS", "destructor ADDRESS", "seldom ADDRESS", "uncharted ADDRESS".
"""
import ctypes
import mmap
import platform

from allocating import allocate, write_expected

LIBC = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None)
FOUND = {}


def sort(compare):
    def first_only(_, __):
        if not called:
            called.append(compare())
        return 0

    called = []
    LIBC.qsort((ctypes.c_int * 2)(2, 1), ctypes.c_size_t(2), ctypes.c_size_t(4), COMPARE(first_only))


def innermost():
    FOUND["callbacks"] = allocate()


def middle():
    sort(innermost)


class Dying:
    def __del__(self):
        FOUND["destructor"] = allocate()


def let_die():
    dying = Dying()
    del dying


class Positive:
    def __pos__(self):
        FOUND["seldom"] = allocate()


def seldom():
    """With a profile, the compiler places rare instructions such as the plus sign away from the main part of the loop."""
    +Positive()


# push a frame; call the argument; pop it; return
MACHINE_CODE = {
    "x86_64": bytes.fromhex("4883ec08 ffd7 4883c408 c3".replace(" ", "")),
    "aarch64": bytes.fromhex("fd7bbfa9 fd030091 00003fd6 fd7bc1a8 c0035fd6".replace(" ", "")),
}


def uncharted_callback():
    FOUND["uncharted"] = allocate()


def uncharted():
    """Calls back through machine code that has no unwind table."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(MACHINE_CODE[platform.machine()])
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(None, CALLBACK)(start)(CALLBACK(uncharted_callback))


def outermost():
    sort(middle)


outermost()
let_die()
seldom()
uncharted()
for name, address in FOUND.items():
    print(name, address)
write_expected()
