# SPDX-License-Identifier: MIT
"""A torch.cuda.MemPool keeps memory for itself. `kept`: a request outside fails. `shared`: the pool is deleted first.
`reused`: the pool uses its memory again. `beside`: the card has room for both. `two`: a second pool fails beside the first."""
import sys

import torch

from moments import moment

GIB = 1 << 30


def new(gib):
    return torch.empty(int(gib * GIB), dtype=torch.uint8, device="cuda")


def fill(pool, gib):
    """Returns a tensor of 0.5 GiB in the pool; a tensor of `gib` GiB is freed and stays idle there."""
    with torch.cuda.use_mem_pool(pool):
        stays = new(0.5)
        passing = new(gib)
        moment("in the pool")
        del passing
    return stays


def kept():
    pool = torch.cuda.MemPool()
    stays = fill(pool, 8)
    moment("idle in the pool")
    try:
        new(10)
    except torch.cuda.OutOfMemoryError:
        moment("refused")
    return pool, stays


def beside():
    pool = torch.cuda.MemPool()
    stays = fill(pool, 8)
    outside = new(4)
    moment("beside the pool")
    return pool, stays, outside


def reused():
    pool = torch.cuda.MemPool()
    stays = fill(pool, 8)
    with torch.cuda.use_mem_pool(pool):
        again = new(7)
        moment("taken again")
    return pool, stays, again


def shared():
    pool = torch.cuda.MemPool()
    stays = fill(pool, 8)
    del stays, pool
    moment("the pool is gone")
    served = new(10)
    moment("served")
    return served


def two():
    first, second = torch.cuda.MemPool(), torch.cuda.MemPool()
    stays = fill(first, 8)
    try:
        fill(second, 9)
    except torch.cuda.OutOfMemoryError:
        moment("refused")
    return first, second, stays


held = globals()[sys.argv[1]]()
