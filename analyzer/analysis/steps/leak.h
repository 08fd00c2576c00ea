/* SPDX-License-Identifier: MIT */
/*
 * Decides whether an account leaks, and where. A leak is growth without known caches, and without
 * amounts that are too small to matter.
 *
 *   a leak       Call stacks that are no caches grow, together by more than the floor, and by more
 *                than the error of the slope. Or the account grows, although none of its call
 *                stacks grows and it holds no segments of a pool. At least three steps must rise;
 *                among fewer than ten steps, each must.
 *                The rounds after the last step are judged in the same way (account_leak_find()).
 *   grows        There is no leak, but call stacks that are no caches enlarge their blocks
 *                (growth.h), together by more than the floor, and so often that they will go on to
 *                grow (rising.h). Or their bytes rise and are swept at irregular times (sweeps.h),
 *                and the account as a whole is not flat. Or, without steps, a line keeps every
 *                block, and each is larger than the one before, or it loses some now and then.
 *   no leak      The account as a whole rises less than half as fast as these call stacks, or only
 *                caches grow, or the growth is below the floor, or something frees all of it at
 *                regular times, or what grew are caches that are full.
 *   cannot tell  There are no steps or too few, or the bytes vary more than they grow. Or blocks
 *                were enlarged too few times to tell them from those of longer inputs. Or most of
 *                the growth is kept for a backward, so it may belong to one forward that has not
 *                ended (growing.waits).
 *
 * The floor is the slope that would fill the card in ten million steps. If the size of the card is
 * unknown, or the card does not limit the account's memory, it is the slope that would double the
 * peak in ten million steps.
 */
#pragma once

#include "growth.h"
#include "analyzer/symbol/symbols.h"

/* From best to worst. */
enum leak_verdict { LEAK_NONE, LEAK_UNKNOWN, LEAK_GROWS, LEAK_FOUND };
/* The name of the verdict for people, such as "no leak". */
const char *leak_verdict_name(enum leak_verdict verdict);

struct leak {
    enum leak_verdict verdict;
    double slope, low, high; /* bytes per step that are kept, without caches; 0: none */
    double enlarged_slope, enlarged_low, enlarged_high; /* the same for blocks that are enlarged */
    bool enlarges_on;      /* a stack enlarged its blocks so often that it will go on */
    double larger_slope;   /* part of slope: each block is larger than the one before */
    double copied_slope;   /* of the largest enlarged block, which exists twice while copied */
    double peak_slope;     /* rise of the peak per step, without amounts that do not matter */
    double check_slope;    /* bytes kept or enlarged per step, including amounts below the floor */
    double saw_slope;      /* of saws (sweeps.h) that are swept at irregular times */
    double flushed_slope;  /* of those that are swept at a regular pace, which are no growth */
    uint64_t rises_count;  /* most steps in which a stack that leaks rose */
    bool is_unsure;        /* it rises, but by less than its error, or too few times */
    bool is_small;         /* all steps together added less than a hundredth of the peak */
    double waiting_slope;  /* part of slope that is kept for a backward */
    bool waits;            /* waiting_slope is at least half of slope, so there is no verdict */
    double cache_slope;    /* growth of known caches; 0: none grows */
    const char *cache;     /* name of the known cache that grows most */
    double left_out_slope; /* of stacks in left_out */
    double floor;
    size_t count;     /* number of call stacks that leak */
    bool keeps_graph; /* autograd keeps blocks of a stack that leaks */
};

/* An account's memory, and the memory that it may fill. */
struct leak_room {
    uint64_t bytes;       /* the size of the card; without a card, the account's peak */
    uint64_t peak_bytes;  /* growth must be visible beside it */
    const bool *left_out; /* true, by stack id, for the stacks of a pool's segments, because the
                             pool's own account counts the blocks in them; NULL: none is left out */
};

int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const struct leak_room *room, struct err *err);
