# SPDX-License-Identifier: MIT
"""Makes one allocation, in any version of Python.

    python one_allocation.py RUNTIME EXPECTED
"""
import ctypes
import sys

pointer = ctypes.c_void_p()
ctypes.CDLL(sys.argv[1]).cudaMalloc(ctypes.byref(pointer), 512)
