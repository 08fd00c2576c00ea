/* SPDX-License-Identifier: MIT */
/* Stacks as texts, for formats that repeat them with every event. Only some texts are kept at a
 * time, so that memory does not grow with the number of stacks. */
#pragma once

#include "frames.h"

enum { STACK_TEXTS = 1 << 12, STACK_TEXTS_BYTES_MAX = 64 << 20 };
/* large enough for any single frame */
enum { STACK_TEXT_BYTES_MAX = 2 * FRAMES_TEXT_BYTES_MAX + 64 };

struct stack_texts {
    struct export_frames frames;
    struct stack_text {
        uint32_t stack_id; /* 0: empty */
        struct text text;
    } items[STACK_TEXTS]; /* at index stack id % STACK_TEXTS */
    size_t bytes;         /* upper bound for the size of those texts */
};

/* Returns NULL if out of memory. */
struct stack_texts *stack_texts_new(const struct export *export, struct err *err);
void stack_texts_free(struct stack_texts *texts);

/* Returns the stack in the form of frames_join, "" for stack 0; valid until the next
 * call. NULL: out of memory. */
const char *stack_texts_get(struct stack_texts *texts, uint32_t stack_id, struct err *err);
