# SPDX-License-Identifier: MIT
"""Asks for walks inside statements that hold memory for which they have no variable yet: on the stack of the running function, and
in C code that a call runs, which only CPython 3.11 and later tell apart from calls of Python. Sizes are as in keepers.py."""
import ctypes
import sys

import torch

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
walk = ctypes.CDLL(None).gpumemtrace_holders


def big(size):
    return torch.zeros(size * UNIT, device="cuda")


def last(size, number=3):
    if number == 3:
        walk()
    return big(size)


def batches(size):
    cache = []
    for number in range(3):
        cache.append(big(size))  # 40
        yield number


class Loader:
    def __iter__(self):
        return iter([big(41) for _ in range(3)])


class Guard:
    def __init__(self):
        self.kept = big(42)  # 42

    def __enter__(self):
        return 1

    def __exit__(self, *_):
        self.kept = None


class Kept:
    """Stands for C code that keeps an object: its count of references is one too large."""

    def __init__(self):
        self.big = big(50)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def uses_its_stack():
    len([big(43), last(43)])  # 43
    torch.add(big(44), last(44))  # 44
    for number in batches(40):
        last(1, number + 1)
    for _ in Loader():  # 41
        del _
        walk()
        break
    with Guard():
        walk()


def calls_c_code():
    tuple(last(45, number) for number in range(4))  # 45
    list(map(last, (46, 46, 46), (1, 2, 3)))  # 46
    sum(last(47, number) for number in range(4))  # 47


def leaves_it_to_c_code():
    Kept()
    list(map(last, (48, 48), (2, 3)))  # 48


def assigns_again(given):
    value = big(52)  # 52
    value = last(1)
    for number in range(2):
        looped = last(53, 3 if number else 1)  # 53
    given = last(1)
    return value, given, looped


assigns_again(big(51))
uses_its_stack()
calls_c_code()
leaves_it_to_c_code()
print(sys.version_info >= (3, 11))


def names_its_argument_only(passed):
    walk()
    return passed


def names_another_tensor_alike():
    passed = big(54)
    return passed


names_its_argument_only(big(54))
