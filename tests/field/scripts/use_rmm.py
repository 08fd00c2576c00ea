# SPDX-License-Identifier: MIT
"""RMM: a buffer from a pool."""
import rmm
rmm.reinitialize(pool_allocator=True, initial_pool_size=1 << 28)
buffer = rmm.DeviceBuffer(size=1 << 20)
print("done")
