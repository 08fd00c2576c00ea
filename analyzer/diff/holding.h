/* SPDX-License-Identifier: MIT */
/*
 * Live memory at a moment as names alone, so that it can be compared with another run: the call
 * paths through the program, with files relative to the program's own folder.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H
#define GPUMEMTRACE_ANALYZER_DIFF_HOLDING_H

#include "analyzer/analysis/study.h"
#include "analyzer/util/arena.h"
#include "analyzer/util/text_set.h"

/* One line of the program on a call path. Texts are indices of a set that both sides share. */
struct call_line {
    uint32_t file;     /* relative to the program's folder; a library's file name; "" */
    uint32_t function; /* as shown */
    uint32_t key;      /* as compared: "forward" of "Layer.forward" */
    uint32_t line;     /* 0: unknown */
};

/* Lives of all blocks of a stack, as in births.h. */
struct held_life {
    uint64_t born_count, freed_count, freed_age;
    uint64_t high_bytes, high_seq; /* 0: unknown */
    /*
     * Call path of the line that allocated last before most frees, or whose backward did; depth 0:
     * unknown.
     */
    const struct call_line *after;
    size_t after_depth;
    bool is_after_backward;
};

struct held_site {
    const struct call_line *call_path; /* outermost first */
    size_t depth;                      /* 0: no frame is the program's */
    uint32_t leaf;                     /* called by the innermost line, or backward's node; "" */
    uint32_t phase;                    /* path at birth, TEXT_SET_NONE: outside any */
    enum category category;
    bool is_of_backward; /* call_path is that of the forward operator */
    bool is_left;        /* by a call to backward that is over */
    bool is_left_graph;  /* of a graph, and such a call did not free it */
    uint64_t bytes, count;
    /*
     * Average bytes of a block of its stack, over the run; 0: another site of the stack has it and
     * life.
     */
    uint64_t each_bytes;
    struct held_life life;
};

struct holding {
    struct text_set *names;  /* of both sides */
    struct held_site *items; /* also stacks that hold nothing now, with 0 bytes */
    size_t count, capacity;
    struct arena call_lines;
    uint64_t total_bytes;
    uint64_t left_bytes, left_graph_bytes; /* of sites with is_left, is_left_graph */
    bool is_in_backward;                   /* is the moment in backward */
    const char *folder;                    /* the program's, with a final slash; "": unknown */
};

/*
 * Fills the holding with live memory of the account right after a moment (index INDEX_NONE:
 * nothing). by_call is as for sites_left_at. `names` must outlive the holding.
 */
int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t account, const struct moment *at, unsigned by_call, struct err *err);
void holding_release(struct holding *holding);
/* Counts the item after the last one, which the caller has filled. */
void holding_count(struct holding *holding);
/* Adds an item without call path and blocks. */
int holding_add_rest(struct holding *holding, const char *name, uint64_t bytes, struct err *err);

/* Fills the line, with its key. */
int call_line_set(struct call_line *call_line, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err);

/* "gpt.py:24 Layer.attend", as in rows of sites. */
#define CALL_LINE_BYTES 384
const char *call_line_text(const struct call_line *call_line, const struct text_set *names,
                           char buffer[CALL_LINE_BYTES]);

#endif
