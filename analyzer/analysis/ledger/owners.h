/* SPDX-License-Identifier: MIT */
/*
 * Finds the owner of a block of driver memory. The owner is the library of the innermost frame that
 * is no allocator's frame. If there is no such library, it is the program.
 *
 *     cuMemAlloc   libcuda.so      allocator: no owner
 *     …            libcublas.so    ◄── cuBLAS
 *     gemm         libtorch.so
 *     train.py
 */
#pragma once

#include "analyzer/load/trace.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/text_set.h"

/* Numbers of owners. The numbers from OWNER_LIBRARIES on stand for libraries. */
enum { OWNER_UNKNOWN, OWNER_PROGRAM, OWNER_LIBRARIES };

struct owners {
    const struct trace *trace;
    struct text_set names;    /* by number */
    struct pair_map of_stack; /* number of the owner, by stack id */
    struct pair_map of_file;  /* number << 1 | whether the file is an owner, by Python file's id */
    uint32_t *of_module;      /* owner's number + 1, or a kind of owners.c; 0: not looked up yet */
};

int owners_init(struct owners *owners, const struct trace *trace, struct err *err);
void owners_release(struct owners *owners);

/* The number of the owner of memory that the stack allocated. -1: out of memory. */
int64_t owners_find(struct owners *owners, uint32_t stack_id, struct err *err);
