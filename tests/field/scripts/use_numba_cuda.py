# SPDX-License-Identifier: MIT
"""numba-cuda: a kernel on numba's own arrays."""
import numpy as np
from numba import cuda

@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]

n = 1 << 20
a = cuda.to_device(np.ones(n, np.float32)); b = cuda.to_device(np.ones(n, np.float32))
out = cuda.device_array(n, np.float32)
add[(n + 255) // 256, 256](a, b, out)
cuda.synchronize()
out.copy_to_host()
print("done")
