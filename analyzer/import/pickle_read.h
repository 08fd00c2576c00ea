/* SPDX-License-Identifier: MIT */
/*
 * A pickle of Python, protocols 2 to 5, as plain values: numbers, texts, lists and dictionaries. Reading it runs
 * nothing: what names a class or calls something is refused. It must not know what is said.
 *
 * Values may be shared, and a list may hold itself: whoever walks them bounds the walk.
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_PICKLE_READ_H
#define GPUMEMTRACE_ANALYZER_IMPORT_PICKLE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/util/arena.h"
#include "gpumemtrace/err.h"

enum pickle_type {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_NUMBER, /* 0 to 2^64-1 */
    PICKLE_OTHER,  /* a number below 0, with a fraction or beyond; or bytes: nobody asks for them */
    PICKLE_TEXT,
    PICKLE_LIST, /* or a tuple */
    PICKLE_DICT,
};

struct pickle_list;

struct pickle_value {
    uint32_t type;
    uint32_t length; /* of a text; it is not terminated */
    union {
        uint64_t number;
        const char *text; /* in the bytes that were read */
        struct pickle_list *list;
    };
};

struct pickle_list { /* of a dictionary: key, value, key, value … */
    struct pickle_value *items;
    size_t count, capacity;
    uint32_t number;           /* in the order of their beginnings, from 0 */
    struct pickle_list *newer; /* of all that were made */
};

struct pickle_values {
    struct pickle_value root;
    struct pickle_list *oldest, *newest;
    uint32_t list_count;
    struct arena lists;
};

/* name stands in messages. The bytes outlive the values. */
int pickle_read(struct pickle_values *values, const char *name, const unsigned char *bytes,
                size_t length, struct err *err);
void pickle_values_release(struct pickle_values *values);

/* What stands under the key, the last if there are several; NULL: nothing does, or it is no dictionary. One of more
 * than 256 keys is not looked through. */
const struct pickle_value *pickle_get(const struct pickle_value *dictionary, const char *key);
/* NULL is no text. */
bool pickle_is_text(const struct pickle_value *value, const char *text);
/* Its items; none if it is no list. */
size_t pickle_items(const struct pickle_value *value, const struct pickle_value **items);

#endif
