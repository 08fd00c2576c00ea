# SPDX-License-Identifier: MIT
"""Drops two objects that refer to each other, one of which has a tensor. A comment has the size of the tensor, in units of 64 KiB,
on each line that makes the cycle."""
import ctypes
import gc

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB


class Log:
    def __init__(self, task):
        self.task = task  # 40


class Task:
    def __init__(self):
        self.weights = torch.zeros(40 * UNIT, device="cuda")
        self.log = Log(self)  # 40


def main():
    for _ in range(3):
        Task()
    ctypes.CDLL(None).gpumemtrace_holders()


gc.disable()
main()
