# SPDX-License-Identifier: MIT
"""A forward pass with one operator per line, and its backward: plain, with a checkpoint, and out of memory."""
import time

import torch
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20


def block(x):
    x = x * 2.0  # multiply
    x = torch.relu(x)  # rectify
    return x.sin()  # sine


def forward(x):
    x = block(x)
    return x.exp().sum()  # exponential


def main():
    x = torch.empty(4 * MIB, device="cuda", requires_grad=True)
    forward(x).backward()  # plain
    x.grad = None
    checkpoint(block, x, use_reentrant=False).sum().backward()  # checkpointed
    x.grad = None
    loss = forward(x)
    torch.cuda.empty_cache()
    filler = torch.empty(torch.cuda.mem_get_info()[0] - 8 * MIB, dtype=torch.uint8, device="cuda")
    try:
        loss.backward()  # fails
    except torch.cuda.OutOfMemoryError:
        print("out of memory")
    del filler
    after = torch.zeros(MIB, device="cuda")  # after
    del after, loss
    forward(x).backward()  # again
    views(x).backward()
    time.sleep(0.1)  # PyTorch 2.15 aborts if Python ends while autograd's thread still frees its tensors


def views(x):
    """Operators that allocate nothing in their forward, but in their backward."""
    first, second = x.chunk(2)  # chunk
    product = first * second  # product
    return product.relu_().sum()  # in place


main()
