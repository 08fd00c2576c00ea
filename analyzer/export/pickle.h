/* SPDX-License-Identifier: MIT */
/*
 * A pickle of Python, protocol 2, written as a stream: texts, numbers, truths, lists and dictionaries; no object of
 * any class, so that reading it runs nothing. Texts stand in it once and are referred to after that. Opcodes have the
 * names of Python's pickletools. It must not know what is said.
 *
 *     pickle_put PICKLE_OPEN_DICT          }(
 *     pickle_text "size" pickle_number 8     X… K…      (keys and values take turns)
 *     pickle_put PICKLE_CLOSE_DICT         u
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_PICKLE_H
#define GPUMEMTRACE_ANALYZER_EXPORT_PICKLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/util/text_set.h"

struct pickle {
    FILE *out;
    uint32_t memo_count;
    struct text_set texts;
    uint32_t *memos; /* of texts, by number */
    size_t memo_capacity;
};

void pickle_begin(struct pickle *pickle, FILE *out);
void pickle_end(struct pickle *pickle);
void pickle_release(struct pickle *pickle);

/* The text is UTF-8. */
int pickle_text(struct pickle *pickle, const char *text, struct err *err);
void pickle_number(struct pickle *pickle, uint64_t number);
void pickle_bool(struct pickle *pickle, bool truth);
/* (0, 0): how PyTorch writes that something has no pool of its own. */
void pickle_pair_of_zeros(struct pickle *pickle);

/* EMPTY_DICT MARK, SETITEMS, EMPTY_LIST MARK, APPENDS: a dictionary or list, between whose two ends is what it holds. */
#define PICKLE_OPEN_DICT "}("
#define PICKLE_CLOSE_DICT "u"
#define PICKLE_OPEN_LIST "]("
#define PICKLE_CLOSE_LIST "e"
/* What stands in an open list is handed over to it: of a long one now and then, because readers hold it until then. */
#define PICKLE_FLUSH_LIST "e("
/* One without anything in it. To a dictionary SETITEM adds key and value, at once: it is open without a mark. */
#define PICKLE_EMPTY_DICT "}"
#define PICKLE_EMPTY_LIST "]"
#define PICKLE_SET_ITEM "s"
void pickle_put(struct pickle *pickle, const char *opcodes);

/* What was written last can be recalled by the number that is returned. */
uint32_t pickle_remember(struct pickle *pickle);
void pickle_recall(struct pickle *pickle, uint32_t memo);
/* More items of a list that is recalled, until it is closed. */
void pickle_resume_list(struct pickle *pickle, uint32_t memo);

#endif
