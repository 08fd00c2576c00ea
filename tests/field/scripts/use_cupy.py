# SPDX-License-Identifier: MIT
"""CuPy: a fill, a sum and a product."""
import cupy as cp
x = cp.zeros((1024, 1024), cp.float32)
y = x + 1
z = y @ y
cp.cuda.Stream.null.synchronize()
print("done")
