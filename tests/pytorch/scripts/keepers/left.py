# SPDX-License-Identifier: MIT
"""Trains with a cycle of references in each step, so that walks look for referrers, and counts what the walks leave behind. No
collection runs, which would hide it."""
import ctypes
import gc
import types

import torch

walk = ctypes.PyDLL(None).gpumemtrace_holders


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = y = x * 2
        return y

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.kept


def step(model):
    for _ in range(4):
        Keep.apply(model(torch.zeros(512, 1024, device="cuda"))).sum().backward()


def walks(model):
    """Asks for walks at two depths of the stack."""
    walk()
    [walk() for _ in range(2)]
    step(model)
    sorted([2, 1], key=lambda number: (walk(), number)[1])


def count_own():
    """Returns the number of functions in files of the simulator and of the walk."""
    return sum(type(thing) is types.FunctionType and thing.__code__.co_filename.startswith("<gpumemtrace") for thing in gc.get_objects())


gc.disable()
model = torch.nn.Linear(1024, 1024).cuda()
before = count_own()
for _ in range(3):
    step(model)
    walks(model)
found = gc.get_objects()
print(count_own() - before, sum(type(thing) is list and thing is not found and any(item is thing for item in thing) for thing in found))
