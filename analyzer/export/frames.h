/* SPDX-License-Identifier: MIT */
/*
 * Frames of stacks as other tools want them: each that differs in function, file or line once, with a
 * number, and texts that are valid UTF-8 without a character that controls a terminal. It must not know
 * formats.
 *
 * Frames of the interpreter and the recorder's own are left out, where a stack has others, unless all
 * frames are asked for. A stack is never empty: one that was not taken has a frame that says so.
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_FRAMES_H
#define GPUMEMTRACE_ANALYZER_EXPORT_FRAMES_H

#include "export.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/text.h"
#include "analyzer/util/text_set.h"
#include "gpumemtrace/limits.h"

/* A byte may become three, an invisible character its number. */
enum { FRAMES_TEXT_BYTES_MAX = 16 * LIMIT_text_bytes };

struct export_frame {
    uint32_t function, file; /* of texts; file 0: not known */
    uint32_t line;           /* 0: not known */
};

struct export_frames {
    struct symbols *symbols;
    bool takes_all;
    struct text_set texts; /* 0 is "" */
    struct text cleaned;   /* the text that is being added */
    struct export_frame *items;
    size_t count, capacity;
    struct pair_map numbers; /* of frames */
    uint32_t *stack;         /* of the stack that was walked last, from the allocation outwards */
    size_t depth, stack_capacity;
};

int frames_init(struct export_frames *frames, const struct export *export, struct err *err);
void frames_release(struct export_frames *frames);

/* Leaves the numbers of its frames in frames->stack, depth of them. */
int frames_walk(struct export_frames *frames, uint32_t stack_id, struct err *err);
/* Puts a frame of that name around the stack that was walked. */
int frames_put_around(struct export_frames *frames, const char *name, struct err *err);

/* The number of a text, cleaned. TEXT_SET_NONE: out of memory. NULL is "". */
uint32_t frames_text(struct export_frames *frames, const char *text, struct err *err);

static inline const char *frames_function(const struct export_frames *frames, uint32_t number)
{
    return frames->texts.texts[frames->items[number].function];
}
static inline const char *frames_file(const struct export_frames *frames, uint32_t number)
{
    return frames->texts.texts[frames->items[number].file];
}

/* "forward (train.py:88)", for formats in which a frame is one text. */
void frames_describe(const struct export_frames *frames, uint32_t number, struct text *text);
/* The stack that was walked as one text, from the outermost frame inwards: "main (train.c:9);malloc". A
 * semicolon in a name becomes a colon. Of a stack that is too long for the text outer frames are cut. */
int frames_join(const struct export_frames *frames, struct text *text, struct err *err);

#endif
