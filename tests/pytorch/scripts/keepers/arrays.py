# SPDX-License-Identifier: MIT
"""Keeps arrays that are no tensors of PyTorch, which this program does not load: classes that behave like those of CuPy, Numba
and the program's own. A number in a comment is the size of an array."""
import ctypes
import sys

cuda = ctypes.CDLL("libcudart.so.12")


class Block:
    def __init__(self, count):
        self.address = ctypes.c_void_p()
        cuda.cudaMalloc(ctypes.byref(self.address), ctypes.c_size_t(count << 16))
        self.count = count


class InC(Block):
    """The attribute lies in a slot, as C code provides it."""

    __slots__ = ("__cuda_array_interface__",)

    def __init__(self, count):
        super().__init__(count)
        self.__cuda_array_interface__ = {"shape": (count, 1 << 14), "typestr": "<f4", "data": (self.address.value, False)}


class OfLibrary(Block):
    @property
    def __cuda_array_interface__(self):
        strides = (1 << 16, 4)
        return {"shape": (self.count, 1 << 14), "typestr": "<f4", "data": (self.address.value, False), "strides": strides}


class OfProgram(Block):
    @property
    def __cuda_array_interface__(self):
        print("the walk called a property of the program")
        return {"shape": (self.count, 1 << 14), "typestr": "<f4", "data": (self.address.value, False)}


class Freed(OfLibrary):
    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("freed")


OfLibrary.__module__ = Freed.__module__ = "numba.cuda.cudadrv.devicearray"


def main():
    in_c = [InC(3), InC(3)]  # 3
    table = {"first": OfLibrary(5)}  # 5
    own, freed = OfProgram(7), Freed(9)
    ctypes.CDLL(None).gpumemtrace_holders()
    print(len(in_c), len(table), own.count, freed.count, "torch" in sys.modules)


main()
