/* SPDX-License-Identifier: MIT */
/*
 * The line of the program to blame for an allocation, as a person would name it: one label for each
 * site of a set. Rules, in this order:
 *
 *     no wrapper     an allocator's wrapper (wrappers.def) is no label, if there is another frame
 *     fewest paths   the label is the line that the fewest call paths of the set share, so a helper
 *                    that all rows go through is no label
 *     innermost      if several lines are shared by equally few call paths, the label is the line
 *                    nearest to the allocation; but it is an outer line if several functions call a
 *                    function between the two, or if only the inner line is in a header
 *
 * If a stack has no frame of the program, its autograd operator is the label ("MmBackward0,
 * backward (autograd)", or "MmBackward0 of train.py:88 forward" if the forward operator's stack is
 * known), else a label frame, else a frame of the framework; see stack_site.h.
 *
 *     struct blame blame = {0};
 *     if (blame_sites(&blame, study->symbols, sites, count, err)) …
 *     blame_of(&blame, site_id)->label          "train.py:88 forward", for a sentence
 *     blame_of(&blame, site_id)->text           "train.py:88 forward, in Linear.forward", for a row
 *     blame_release(&blame);
 *
 * Sites with the same text share one row.
 */
#pragma once

#include "analyzer/load/site_id.h"
#include "call_paths.h"
#include "stack_site.h"

struct blamed {
    uint64_t site_id;
    const char *label, *text; /* valid until blame_release */
    uint32_t label_number;    /* index of the label, from 0 in the order of first use */
    uint32_t row;             /* index of the text, from 0 in the order of first use */
    uint32_t path;            /* in blame.paths; CALL_PATH_NONE: no frame is the program's */
    uint32_t forward_path;    /* path of the forward operator, if path is none */
    uint32_t label_path;      /* the node of path or forward_path that the label names */
    const struct symbol_frame *forward; /* frame in forward_path that the label names, or NULL */
    bool names_line;                    /* the label names a line of the program */
    bool is_known;                      /* false: there is no stack, and the label says that */
    struct stack_site site;
};

struct blame {
    struct call_paths paths;
    struct blamed *items; /* one for each different site, in the order given */
    size_t count, capacity;
    struct pair_map numbers; /* index of an item, by site */
    struct text_set texts;   /* by row */
    struct text_set labels;
};

/*
 * Chooses labels for the `count` sites, which may contain duplicates. If the forward operator of a
 * site is known, its line is part of the label: "MmBackward0 of train.py:88 forward". If
 * blame_sites returns -1, there is nothing to release.
 */
int blame_sites(struct blame *blame, struct symbols *symbols, const uint64_t *sites, size_t count,
                struct err *err);
/*
 * Like blame_sites, but makes labels for the first `said` sites only; the other sites have no text
 * and no row. Only the first `counted` sites count as call paths that share lines.
 */
int blame_first(struct blame *blame, struct symbols *symbols, const uint64_t *sites, size_t count,
                size_t said, size_t counted, struct err *err);
void blame_release(struct blame *blame);

/* Returns the result for one site, which must be in the set. */
const struct blamed *blame_of(const struct blame *blame, uint64_t site_id);

/* Labels one site alone. Returns 1, or 0 if no stack was recorded (the label says that), or -1 if
 * memory ran out. */
#define BLAME_TEXT_BYTES (STACK_SITE_TEXT_BYTES + 2 * STACK_FUNCTION_BYTES + 8)
int blame_alone(char label[BLAME_TEXT_BYTES], struct symbols *symbols, uint64_t site_id,
                struct err *err);
