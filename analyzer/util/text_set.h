/* SPDX-License-Identifier: MIT */
/*
 * A set of texts: each different text is stored once and has a number, from 0 in the order of
 * adding.
 */
#pragma once

#include <stdint.h>

#include "arena.h"
#include "gpumemtrace/err.h"

#define TEXT_SET_NONE UINT32_MAX

/* A zeroed set is empty and ready for use. */
struct text_set {
    const char **texts; /* by number; valid until text_set_release */
    size_t count, capacity;
    uint32_t *slots; /* number + 1 of the text; 0: empty */
    size_t slot_count;
    struct arena bytes;
};

/* Finds or adds a copy of the text; returns its number. TEXT_SET_NONE: out of memory. */
uint32_t text_set_add(struct text_set *set, const char *text, struct err *err);
void text_set_release(struct text_set *set);
