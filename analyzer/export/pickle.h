/* SPDX-License-Identifier: MIT */
/*
 * Writes a Python pickle, protocol 2, as a stream: texts, numbers, booleans, lists and
 * dictionaries. It has no objects of classes, so that reading it runs no code. A text is written
 * once and referred to later. Opcodes have the names of Python's pickletools.
 *
 *     pickle_put PICKLE_OPEN_DICT          }(
 *     pickle_text "size" pickle_number 8     X… K…      (keys and values alternate)
 *     pickle_put PICKLE_CLOSE_DICT         u
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/util/text_set.h"

struct pickle {
    FILE *out;
    uint32_t memo_count;
    struct text_set texts;
    uint32_t *memos; /* of texts, by text number */
    size_t memo_capacity;
};

void pickle_begin(struct pickle *pickle, FILE *out);
void pickle_end(struct pickle *pickle);
void pickle_release(struct pickle *pickle);

/* The text must be UTF-8. */
int pickle_text(struct pickle *pickle, const char *text, struct err *err);
void pickle_number(struct pickle *pickle, uint64_t number);
void pickle_bool(struct pickle *pickle, bool truth);
/* Writes (0, 0): PyTorch's value for the default memory pool. */
void pickle_pair_of_zeros(struct pickle *pickle);

/* These begin and end a dictionary or list; its items are written in between. Opcodes: EMPTY_DICT
 * MARK, SETITEMS, EMPTY_LIST MARK, APPENDS. */
#define PICKLE_OPEN_DICT "}("
#define PICKLE_CLOSE_DICT "u"
#define PICKLE_OPEN_LIST "]("
#define PICKLE_CLOSE_LIST "e"
/* Appends the pending items to the open list. Use it now and then in a long list, because a reader
 * keeps pending items on its stack. */
#define PICKLE_FLUSH_LIST "e("
/* An empty dictionary and an empty list. SET_ITEM adds one key and value at once to a dictionary
 * that was begun without a mark. */
#define PICKLE_EMPTY_DICT "}"
#define PICKLE_EMPTY_LIST "]"
#define PICKLE_SET_ITEM "s"
void pickle_put(struct pickle *pickle, const char *opcodes);

/* pickle_remember returns a number for the value written last; pickle_recall writes that
 * value again. */
uint32_t pickle_remember(struct pickle *pickle);
void pickle_recall(struct pickle *pickle, uint32_t memo);
/* Recalls a list and opens it for more items; close it with PICKLE_CLOSE_LIST. */
void pickle_resume_list(struct pickle *pickle, uint32_t memo);
