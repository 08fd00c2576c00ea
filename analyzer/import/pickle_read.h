/* SPDX-License-Identifier: MIT */
/*
 * Reads a Python pickle, protocols 2 to 5, as plain values: numbers, texts, lists and dictionaries.
 * Reading runs no code: opcodes that name a class or call a function are refused.
 *
 * Values may be shared, and a list may contain itself, so a caller must bound its walk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/util/arena.h"
#include "gpumemtrace/err.h"

enum pickle_type {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_NUMBER, /* 0 to 2^64-1 */
    PICKLE_OTHER,  /* negative, fractional or larger numbers, and bytes; no importer needs them */
    PICKLE_TEXT,
    PICKLE_LIST, /* or a tuple */
    PICKLE_DICT,
};

struct pickle_list;

struct pickle_value {
    uint32_t type;
    uint32_t length; /* of a text, which has no 0 at its end */
    union {
        uint64_t number;
        const char *text; /* points into the bytes that were read */
        struct pickle_list *list;
    };
};

struct pickle_list { /* for a dictionary: key, value, key, value … */
    struct pickle_value *items;
    size_t count, capacity;
    uint32_t number;           /* in the order of their creation, from 0 */
    struct pickle_list *newer; /* chains all lists, newest first */
};

struct pickle_values {
    struct pickle_value root;
    struct pickle_list *oldest, *newest;
    uint32_t list_count;
    struct arena lists;
};

/* name is used in messages. The bytes must outlive the values. */
int pickle_read(struct pickle_values *values, const char *name, const unsigned char *bytes,
                size_t length, struct err *err);
void pickle_values_release(struct pickle_values *values);

/* Returns the value of the key, the last one if there are several; NULL if there is none, if
 * `dictionary` is no dictionary, or if it has more than 256 keys. */
const struct pickle_value *pickle_get(const struct pickle_value *dictionary, const char *key);
/* NULL is not a text. */
bool pickle_is_text(const struct pickle_value *value, const char *text);
/* Returns the number of items; 0 if the value is not a list. */
size_t pickle_items(const struct pickle_value *value, const struct pickle_value **items);
