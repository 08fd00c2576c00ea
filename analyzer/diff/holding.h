/* SPDX-License-Identifier: MIT */
/*
 * Live memory at a moment, described by names alone, so that it can be compared with another run.
 * The names are the call paths through the program, with files relative to the program's own
 * folder.
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/util/arena.h"
#include "analyzer/util/text_set.h"

/* One line of the program on a call path. Texts are indices of a set that both sides share. */
struct call_line {
    /* file, key and line as one number, which is not dense: equal lines have equal places */
    uint32_t place;
    /* relative to the program's folder; for a library, its file name; "": unknown */
    uint32_t file;
    uint32_t function; /* the function's name, as shown */
    uint32_t key;      /* the function's name for comparisons: "forward" for "Layer.forward" */
    uint32_t line;     /* 0: unknown */
};

/* The lives of all blocks of a stack; see births.h. */
struct held_life {
    uint64_t born_count, freed_count, freed_age;
    /* the account's highest live bytes right after an allocation here, and its event; 0: unknown */
    uint64_t high_bytes, high_seq;
    /*
     * Call path of the line that allocated last before most blocks were freed, or whose backward
     * allocated last. depth 0: unknown.
     */
    const struct call_line *after;
    size_t after_depth;
    bool is_after_backward;
};

struct held_site {
    const struct call_line *call_path; /* outermost first */
    size_t depth;                      /* 0: no frame is the program's */
    size_t label_depth; /* up to the line that blame.h names; 0: a baseline's site, not known */
    /* function that the innermost line called, or the node of backward; may be "" */
    uint32_t leaf;
    /* path of phases at birth; TEXT_SET_NONE: outside any phase */
    uint32_t phase;
    enum category category;
    bool is_of_backward; /* call_path is that of the forward operator */
    bool is_left;        /* a call to backward that is over left it */
    /* it belongs to a graph, and a call to backward that is over did not free it */
    bool is_left_graph;
    uint64_t bytes, count;
    /*
     * Average bytes of a block of its stack, over the whole run. 0: another site of the same stack
     * has the average and the life.
     */
    uint64_t each_bytes;
    struct held_life life;
};

struct holding {
    struct text_set *names;  /* names of both sides */
    struct held_site *items; /* also contains stacks that hold nothing now, with 0 bytes */
    size_t count, capacity;
    struct arena call_lines;
    uint64_t total_bytes;
    /* sums of the sites with is_left and of those with is_left_graph */
    uint64_t left_bytes, left_graph_bytes;
    bool is_in_backward; /* the moment is in backward */
    /* folder of the program, with a final slash; "": unknown */
    const char *folder;
};

/*
 * Fills the holding with live memory of the account right after a moment. If the moment's index is
 * INDEX_NONE, nothing is live. by_call has the kinds that sites_left_at takes. `names` must outlive
 * the holding.
 */
int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t account, const struct moment *at, unsigned by_call, struct err *err);
void holding_release(struct holding *holding);
/* Counts the item after the last counted one. The caller has filled this item. */
void holding_count(struct holding *holding);
/* Adds an item that has no call path and no blocks. */
int holding_add_rest(struct holding *holding, const char *name, uint64_t bytes, struct err *err);

/* Fills the line, including its key and its place. */
int call_line_set(struct call_line *call_line, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err);

/* Returns the line as text, for example "gpt.py:24 Layer.attend", as rows of sites show it. */
#define CALL_LINE_BYTES 384
const char *call_line_text(const struct call_line *call_line, const struct text_set *names,
                           char buffer[CALL_LINE_BYTES]);
