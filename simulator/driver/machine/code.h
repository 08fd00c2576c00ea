/* SPDX-License-Identifier: MIT */
/*
 * Code: what is loaded of it, and where. A module is code in one context. A library is code for
 * every context; each that uses it gets a module of it, at once where CUDA_MODULE_LOADING=EAGER
 * says so, else when the first of its kernels is wanted there. The code itself is never read.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CODE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CODE_H

#include "context_state.h"

struct library {
    struct object object;
    uint64_t size_bytes;
};

struct module {
    struct object object;
    const struct library *library; /* NULL: a module of its own */
    uint64_t held_bytes;           /* of its context's device */
};

/* A kernel of a library, or a function of a module. */
struct function {
    struct object object;
    const void *owner;
    uint64_t life_id; /* of the context's life in which its library was last found loaded */
};

bool code_is_eager(void);
/* What an image takes when loaded. */
uint64_t code_image_bytes(const void *image);
/* -1: no such file. */
int code_file_bytes(const char *path, uint64_t *size_bytes);
CUresult code_load(struct context *context, const struct library *library, uint64_t size_bytes,
                   struct module **module);
/* The library's module in this context, loaded if it was not. */
CUresult code_module_of(struct context *context, const struct library *library,
                        struct module **module);
/* A new context gets the libraries that are loaded eagerly. */
CUresult code_begin_context(struct context *context);

#endif
