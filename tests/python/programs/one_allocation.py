# SPDX-License-Identifier: MIT
"""One allocation, in a Python of any age.

    python one_allocation.py RUNTIME EXPECTED
"""
import ctypes
import sys

pointer = ctypes.c_void_p()
ctypes.CDLL(sys.argv[1]).cudaMalloc(ctypes.byref(pointer), 512)
