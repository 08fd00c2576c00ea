# SPDX-License-Identifier: MIT
"""Does what a walk might disturb: deletes variables of a running function, packs saved tensors by hooks, reads random
numbers and hides tensors in views. It prints each call of a hook."""
import gc
import random
import warnings
import weakref

import torch
from torch import nn

warnings.simplefilter("always")
torch.manual_seed(1)
random.seed(1)


class Strange(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        print("function", function.__name__)
        return super().__torch_function__(function, kinds, args, kwargs or {})


def pack(tensor):
    print("pack", tuple(tensor.shape))
    return tensor.cpu()


def unpack(tensor):
    print("unpack", tuple(tensor.shape))
    return tensor.cuda()


def step(net, optimizer, number):
    batch = torch.randn(64, 256, device="cuda")
    big = torch.empty(number * 100_000 + 1, device="cuda")
    seen = weakref.ref(big)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = net(batch).square().mean()
    inner = loss * 2  # a tensor that is no leaf
    view = batch[3:9]
    batch.add_(1)
    del big
    print("deleted", seen() is None)
    optimizer.zero_grad()
    inner.backward()
    optimizer.step()
    return view


def main():
    net = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 16)).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    odd = torch.Tensor._make_subclass(Strange, torch.ones(70_000, device="cuda"))
    kept = []
    for number in range(40):
        kept.append(step(net, optimizer, number))
    print(len(kept), type(odd).__name__, random.random(), torch.rand(1).item(), torch.rand(1, device="cuda").item())
    print(sorted(name for name in locals() if name != "number"), gc.isenabled())


with torch.autograd.set_multithreading_enabled(False):  # else frees race with allocations
    main()
