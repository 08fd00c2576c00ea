/* SPDX-License-Identifier: MIT */
/*
 * Stacks as texts, for formats that repeat them with every event: the recent ones are kept, so that
 * memory does not grow with their number. It must not know formats.
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_STACK_TEXTS_H
#define GPUMEMTRACE_ANALYZER_EXPORT_STACK_TEXTS_H

#include "frames.h"

enum { STACK_TEXTS = 1 << 12, STACK_TEXTS_BYTES_MAX = 64 << 20 };
/* One frame fits in any case. */
enum { STACK_TEXT_BYTES_MAX = 2 * FRAMES_TEXT_BYTES_MAX + 64 };

struct stack_texts {
    struct export_frames frames;
    struct stack_text {
        uint32_t stack_id; /* 0: empty */
        struct text text;
    } items[STACK_TEXTS]; /* by stack id, the rest of a division */
    size_t bytes;         /* of those texts, at most */
};

/* NULL: out of memory. */
struct stack_texts *stack_texts_new(const struct export *export, struct err *err);
void stack_texts_free(struct stack_texts *texts);

/* As frames_join has it, "" of stack 0; valid until the next call. NULL: out of memory. */
const char *stack_texts_get(struct stack_texts *texts, uint32_t stack_id, struct err *err);

#endif
