/* SPDX-License-Identifier: MIT */
/*
 * Finds a function by its symbol in every possible way, and fills whole tables of functions.
 */
#pragma once

#include "matrix.h"

struct finder {
    void *(*find)(const struct finder *finder, const char *symbol);
    void *library;       /* the handle for dlsym */
    const char *version; /* the version for dlvsym */
    void *lookup;        /* cuGetProcAddress or a cudaGetDriverEntryPoint */
    bool per_thread;
    int runtime_version; /* 13000 */
};

/* Returns NULL if the function cannot be found in this way. */
void *find_in_library(const struct finder *finder, const char *symbol);
void *find_version(const struct finder *finder, const char *symbol);
void *find_by_lookup(const struct finder *finder, const char *symbol);
void *find_by_lookup_v1(const struct finder *finder, const char *symbol);
void *find_entry_point(const struct finder *finder, const char *symbol);
void *find_by_version(const struct finder *finder, const char *symbol);

void fill_driver(struct opened *opened, const struct finder *finder);
void fill_runtime(struct opened *opened, const struct finder *finder);
