# SPDX-License-Identifier: MIT
"""Triton: a kernel on PyTorch's tensors."""
import torch, triton, triton.language as tl
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
n = 1 << 20
x = torch.ones(n, device="cuda"); y = torch.ones(n, device="cuda"); out = torch.empty_like(x)
add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
print("done")
