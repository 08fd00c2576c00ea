/* SPDX-License-Identifier: MIT */
/*
 * Finds how many bytes a tensor requests from its pool. The pool reports only the size of the
 * block. The block may be larger than the request, because PyTorch does not cut off a rest of up to
 * 1 MiB. Just before a request, PyTorch computes the storage size by functions that the recorder
 * can hook.
 */
#include "torch.h"

static _Thread_local uint64_t asked_bytes GMT_TLS_INITIAL_EXEC;

uint64_t torch_take_asked(void)
{
    const uint64_t bytes = asked_bytes;
    asked_bytes = 0;
    return bytes;
}

/* c10::ArrayRef<int64_t> */
struct numbers {
    const int64_t *items;
    size_t count;
};

/* size_t at::detail::computeStorageNbytesContiguous(IntArrayRef sizes, size_t item, size_t
 * offset) */
TORCH_FUNCTION(size_t, _ZN2at6detail30computeStorageNbytesContiguousEN3c108ArrayRefIlEEmm,
               (struct numbers sizes, size_t item_bytes, size_t offset), "libtorch_cpu.so",
               return 0, { return asked_bytes = real(sizes, item_bytes, offset); })

/* size_t at::detail::computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides, size_t item,
 * size_t offset) */
TORCH_FUNCTION(size_t, _ZN2at6detail20computeStorageNbytesEN3c108ArrayRefIlEES3_mm,
               (struct numbers sizes, struct numbers strides, size_t item_bytes, size_t offset),
               "libtorch_cpu.so", return 0,
               { return asked_bytes = real(sizes, strides, item_bytes, offset); })
