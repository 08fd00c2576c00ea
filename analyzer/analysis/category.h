/* SPDX-License-Identifier: MIT */
/*
 * Categories of memory, shared by traces and estimates. Measured blocks get theirs from the rules
 * in category.c; it must not know how either side prints them.
 */
#ifndef GPUMEMTRACE_ANALYSIS_CATEGORY_H
#define GPUMEMTRACE_ANALYSIS_CATEGORY_H

#include <stdint.h>

enum category {
#define CATEGORY(name, text) CATEGORY_##name,
#include "analysis/categories.def"
    CATEGORY_COUNT
};

/* JSON key ("kv_cache") and name for people ("KV cache"). */
const char *category_key(enum category category);
const char *category_title(enum category category);

#endif
