# SPDX-License-Identifier: MIT
"""Allocates in the main interpreter, in a sub-interpreter, and again in the main interpreter.

    python interpreters.py RUNTIME EXPECTED

Prints "inner ADDRESS", or "none" if this Python offers no sub-interpreters.
"""
import sys

from allocating import allocate, write_expected

INNER = """
import ctypes
def allocate_inside():
    pointer = ctypes.c_void_p()
    ctypes.CDLL({runtime!r}).cudaMalloc(ctypes.byref(pointer), 512)
    print("inner", pointer.value, flush=True)
allocate_inside()
"""


def run_inside(text):
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            print("none")
            return
    # ctypes does not support an interpreter that has its own GIL.
    if sys.version_info >= (3, 13):
        interpreter = interpreters.create("legacy")
    elif sys.version_info >= (3, 9):
        interpreter = interpreters.create(isolated=False)
    else:
        interpreter = interpreters.create()
    problem = interpreters.run_string(interpreter, text)
    if problem:
        sys.exit(str(problem))
    interpreters.destroy(interpreter)


allocate()
run_inside(INNER.format(runtime=sys.argv[1]))
allocate()
write_expected()
