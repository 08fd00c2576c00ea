/* SPDX-License-Identifier: MIT */
/*
 * Numbers the frames of stacks for export: frames that differ in function, file or line have
 * different numbers. The texts of frames are valid UTF-8 without control characters of terminals.
 *
 * Frames of the interpreter and of the recorder are left out unless all frames are asked for, or
 * the stack has only such frames. A walked stack is never empty: a stack without frames gets one
 * frame that says so.
 */
#pragma once

#include "export.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/text.h"
#include "analyzer/util/text_set.h"
#include "gpumemtrace/limits.h"

/* When a text is cleaned, a byte may become three, and an invisible character its number. */
enum { FRAMES_TEXT_BYTES_MAX = 16 * LIMIT_text_bytes };

struct export_frame {
    uint32_t function, file; /* numbers of texts; file 0: unknown */
    uint32_t line;           /* 0: unknown */
};

struct export_frames {
    struct symbols *symbols;
    bool takes_all;
    struct text_set texts; /* text 0 is "" */
    struct text cleaned;   /* the text that is being cleaned */
    struct export_frame *items;
    size_t count, capacity;
    struct pair_map numbers; /* frame numbers */
    uint32_t *stack;         /* the stack walked last, from the allocation outwards */
    size_t depth, stack_capacity;
};

int frames_init(struct export_frames *frames, const struct export *export, struct err *err);
void frames_release(struct export_frames *frames);

/* Stores the numbers of the stack's frames in frames->stack, and their count in depth. */
int frames_walk(struct export_frames *frames, uint32_t stack_id, struct err *err);
/* Adds an outermost frame with that name to the walked stack. */
int frames_put_around(struct export_frames *frames, const char *name, struct err *err);

/* Cleans the text and returns its number; NULL is "". TEXT_SET_NONE: out of memory. */
uint32_t frames_text(struct export_frames *frames, const char *text, struct err *err);

static inline const char *frames_function(const struct export_frames *frames, uint32_t number)
{
    return frames->texts.texts[frames->items[number].function];
}
static inline const char *frames_file(const struct export_frames *frames, uint32_t number)
{
    return frames->texts.texts[frames->items[number].file];
}

/* Adds "forward (train.py:88)", for formats in which a frame is one text. */
void frames_describe(const struct export_frames *frames, uint32_t number, struct text *text);
/* Joins the walked stack into one text, from the outermost frame inwards: "main
 * (train.c:9);malloc". A semicolon in a name becomes a colon. If the stack is too long for the
 * text, outer frames are cut. */
int frames_join(const struct export_frames *frames, struct text *text, struct err *err);
