/* SPDX-License-Identifier: MIT */
/*
 * What a frame means in PyTorch, by its name. frames.def has all names. A frame's meanings are bits
 * of one number; trace_location.means and symbol_frame.means keep them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum torch_meaning {
#define MEANING(name) TORCH_##name,
#define PYTHON(meaning, pattern)
#define NATIVE(meaning, pattern)
#define OPERATOR(meaning, pattern)
#include "frames.def"
    TORCH_MEANINGS
};

/* The meanings of a Python frame; of a label, if `file` is "". */
uint64_t torch_python_means(const char *file, const char *function);
uint64_t torch_native_means(const char *function);

static inline bool torch_is(uint64_t means, enum torch_meaning meaning)
{
    return means >> meaning & 1;
}

/* A part of a function's name. text is NULL if the function has no such part. */
struct torch_name {
    const char *text; /* not terminated */
    int length;
};

/* "mm" of "at::_ops::mm::call". */
struct torch_name torch_operator_name(const char *function);
/* "MmBackward0" of the node "torch::autograd::generated::MmBackward0::apply". */
struct torch_name torch_node_name(const char *function);
/* "Block" of "Block.forward". */
struct torch_name torch_module_name(const char *function);

/* True for a library whose frames have names of operators. The other libraries need no look-up. */
bool torch_has_operators(const char *library_file);
/* True for a thread that runs backwards, by its name. */
bool torch_is_backward_thread(const char *name);

/* Starts of the file names of the libraries of PyTorch's allocator and of its Python. */
#define TORCH_ALLOCATOR_LIBRARY "libc10_cuda.so"
#define TORCH_PYTHON_LIBRARY "libtorch_python.so"

/* The name of the pool of PyTorch's allocator. NULL is no pool. */
#define TORCH_POOL "pytorch"
bool torch_is_pool(const char *pool);
