/* SPDX-License-Identifier: MIT */
/*
 * What was live at a moment, as names alone, so that it can be compared with another run's: the call paths
 * through the program that lead to it, with files relative to the program's own folder. It must not
 * know the other side.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H
#define GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H

#include "analyzer/analysis/study.h"
#include "analyzer/util/arena.h"
#include "analyzer/util/text_set.h"

/* One line of the program on a call path; texts are numbers of a set that both sides share. */
struct call_line {
    uint32_t file;     /* relative to the program's folder; a library's file name; "" */
    uint32_t function; /* as it is shown */
    uint32_t key;      /* as it is compared: "forward" of "Layer.forward" */
    uint32_t line;     /* 0: not known */
};

/* Of all blocks of a stack, as births.h has them. */
struct held_life {
    uint64_t born_count, freed_count, freed_age;
    uint64_t high_bytes, high_seq; /* 0: not known */
    /* The call path of who allocated last before most of them were freed, or its backward did; depth 0: not known. */
    const struct call_line *after;
    size_t after_depth;
    bool is_after_backward;
};

struct held_site {
    const struct call_line *call_path; /* outermost first */
    size_t depth;                      /* 0: nothing is the program's */
    uint32_t leaf;                     /* what the innermost line called, or backward's node; "" */
    uint32_t phase;                    /* path of birth, TEXT_SET_NONE: outside any */
    enum category category;
    bool is_of_backward; /* the call path is that of the forward operator */
    bool is_left;        /* by a call of backward that was over */
    bool is_left_graph;  /* such a call did not free it, nor the rest of its graph */
    uint64_t bytes, count;
    /* Of a block of its stack, on average over the run; 0: another site of the stack tells it, and the rest. */
    uint64_t each_bytes;
    struct held_life life;
};

struct holding {
    struct text_set *names;  /* of both sides */
    struct held_site *items; /* and those of stacks that hold nothing then, of 0 bytes */
    size_t count, capacity;
    struct arena call_lines;
    uint64_t total_bytes;
    uint64_t left_bytes, left_graph_bytes; /* of sites that are */
    bool is_in_backward;                   /* the moment */
    const char *folder; /* of the program, with a slash at its end; "": not known */
};

/* What is live in the account right after a moment; index INDEX_NONE: nothing. by_call as of sites_left_at.
 * names outlives it. */
int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t account, const struct moment *at, unsigned by_call, struct err *err);
void holding_release(struct holding *holding);
/* The item after the last is filled. */
void holding_count(struct holding *holding);
/* An item more that nothing of the program has; of no block. */
int holding_add_rest(struct holding *holding, const char *name, uint64_t bytes, struct err *err);

/* Fills key, too. */
int call_line_set(struct call_line *call_line, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err);

/* "gpt.py:24 Layer.attend", as rows of sites have it. */
#define CALL_LINE_BYTES 384
const char *call_line_text(const struct call_line *call_line, const struct text_set *names,
                           char buffer[CALL_LINE_BYTES]);

#endif
