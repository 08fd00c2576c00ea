# SPDX-License-Identifier: MIT
"""Drops a model whose many layers refer to it, so that a hundred objects lead to each tensor. Only a collection frees it."""
import ctypes
import gc

import torch
from torch import nn

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


class Layer(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(40 * UNIT, device="cuda"))
        self.__dict__["owner"] = owner


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(self) for _ in range(100))  # 40


def main():
    Model()
    ctypes.CDLL(None).gpumemtrace_holders()


gc.disable()
main()
