# SPDX-License-Identifier: MIT
"""Keeps memory in registries that programs forget: dicts of modules and parameters, a list of optimizers, and the handlers of
signals. Each storage has a size of its own, in units of 64 KiB, and the statement that keeps it has the size in a comment."""
import ctypes
import signal
import weakref

import torch
from torch import nn

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.adapters, self.scales = nn.ModuleDict(), nn.ParameterDict()
        setattr(self, "other", Other())

    def adapt(self, name):
        self.adapters[name] = nn.Linear(80 * UNIT, 1, bias=False, device="cuda")  # 80
        self.scales[name] = nn.Parameter(big(81))  # 81


class Other(dict):
    """A dict of which no statement of the program tells that it is assigned or filled."""

    __setattr__ = dict.__setitem__


class Batch:
    def __init__(self):
        self.values = big(85)


class Wrapper:
    def __init__(self, optimizer):
        self.optimizer = optimizer


class Trainer:
    def __init__(self):
        self.optimizers = []

    def prepare(self, parameter):
        self.optimizers.append(Wrapper(torch.optim.SGD([parameter], lr=0.1)))  # 82


def listen():
    weights = big(83)
    before = signal.getsignal(signal.SIGUSR2)

    def stop(number, frame):
        print(weights.shape)
        before(number, frame)

    signal.signal(signal.SIGUSR2, stop)  # 83
    if not weights.is_cuda:
        signal.signal(signal.SIGUSR2, before)


def main():
    net, trainer, sizes, shared = Adapted(), Trainer(), {}, weakref.WeakKeyDictionary()
    for number in range(6):
        net.adapt(f"task {number}")
        setattr(net.other, f"task {number}", big(84))
        sizes[number] = len(net.adapters)
        trainer.prepare(nn.Parameter(big(82)))
        listen()
        batch = Batch()
        shared[batch] = batch  # 85
        del batch
    ctypes.CDLL(None).gpumemtrace_holders()
    return net, trainer


main()
