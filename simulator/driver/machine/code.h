/* SPDX-License-Identifier: MIT */
/*
 * Loaded code. A module is code in one context. A library is code for every context: it is loaded
 * as a module into each context, at once under CUDA_MODULE_LOADING=EAGER, else when the context
 * first uses one of its kernels. The simulator reads only the size of code.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "context_state.h"

struct library {
    struct object object;
    uint64_t size_bytes;
};

struct module {
    struct object object;
    const struct library *library; /* NULL: loaded as a module */
    uint64_t held_bytes;           /* charged to its context's device */
};

/* A kernel of a library, or a function of a module. */
struct function {
    struct object object;
    const void *owner;
    uint64_t life_id; /* life_id of the context when the library was last loaded there */
};

bool code_is_eager(void);
/* The size of an image when loaded. */
uint64_t code_image_bytes(const void *image);
/* -1: the file cannot be read. */
int code_file_bytes(const char *path, uint64_t *size_bytes);
CUresult code_load(struct context *context, const struct library *library, uint64_t size_bytes,
                   struct module **module);
/* Returns the library's module in this context; loads it first if necessary. */
CUresult code_module_of(struct context *context, const struct library *library,
                        struct module **module);
/* Loads into a new context the libraries that are loaded eagerly. */
CUresult code_begin_context(struct context *context);
