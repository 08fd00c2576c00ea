/* SPDX-License-Identifier: MIT */
/*
 * What was live at a moment, as names alone, so that it can be compared with another run's: the ways
 * through the program that lead to it, with files relative to the program's own folder. It must not
 * know the other side.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H
#define GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H

#include "analyzer/analysis/study.h"
#include "analyzer/util/arena.h"
#include "analyzer/util/text_set.h"

/* One line of the program on the way; texts are numbers of a set that both sides share. */
struct held_step {
    uint32_t file;     /* relative to the program's folder; a library's file name; "" */
    uint32_t function; /* as it is shown */
    uint32_t key;      /* as it is compared: "forward" of "Layer.forward" */
    uint32_t line;     /* 0: not known */
};

struct held_site {
    const struct held_step *way; /* outermost first */
    size_t depth;                /* 0: nothing is the program's */
    uint32_t leaf;               /* what the innermost line called, or backward's node; "" */
    uint32_t phase;              /* path of birth, TEXT_SET_NONE: outside any */
    enum category category;
    bool is_of_backward; /* the way is that of the forward operator */
    uint64_t bytes, count;
};

struct holding {
    struct text_set *names; /* of both sides */
    struct held_site *items;
    size_t count, capacity;
    struct arena steps;
    uint64_t total_bytes;
    const char *folder; /* of the program, with a slash at its end; "": not known */
};

/* What is live in the stock right after event index; INDEX_NONE: nothing. names outlives it. */
int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t stock, uint64_t index, struct err *err);
void holding_release(struct holding *holding);

/* Fills key, too. */
int held_step_set(struct held_step *step, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err);

/* "gpt.py:24 Layer.attend", as rows of sites have it. */
#define HELD_STEP_BYTES 384
const char *held_step_text(const struct held_step *step, const struct text_set *names,
                           char buffer[HELD_STEP_BYTES]);

#endif
