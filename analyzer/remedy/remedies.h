/* SPDX-License-Identifier: MIT */
/*
 * Finds the remedies of remedies.def that would have helped, and their gains. A remedy would have
 * helped if its sign is in the trace. The remedies are for the last failed allocation. If no
 * allocation failed, they are for a peak that nearly filled the card. For a peak that left room,
 * only load_on_cpu is asked about, because the checkpoint's memory stays reserved to the end.
 *
 * The need is the highest live bytes, the refused request included. The gain of a remedy is the
 * need less the highest live bytes of the trace without the bytes that the remedy removes. A remedy
 * that the requests before the failure refute (struct asked) is left out, and so is a remedy that
 * concerns little of what was live at the failure.
 *
 * This takes a second replay, because only the end of the first one shows how long blocks live
 * (lives.h): whether a place of backward makes gradients or temporaries, what a loop allocates
 * again, and which lines hold most at the failure. The second replay ends at the failure, unless
 * the model of the allocator also watches it. There is no second replay if the trace did not fail,
 * has room and loaded no checkpoint. There is none either if the program has no forward, backward
 * or optimizer, because only the allocator's remedies could concern such a program.
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "lives.h"
#include "signs.h"

struct remedy {
    enum remedy_key key;
    bool gain_known;
    uint64_t gain_bytes;
    /* the site that the remedy's text names; 0: none */
    uint64_t site_id;
    /* for checkpoint and no_grad: the calling location; 0: none */
    uint32_t line;
    /* the program's location that `line` calls; 0: `line` calls none of the program */
    uint32_t callee;
    uint64_t count;      /* number of calls */
    bool may_have_graph; /* autograd may hold its bytes; false: the trace shows that it does not */
    bool has_trained;    /* a backward or an optimizer was seen */
    bool zeroes;         /* no gradient of an earlier iteration was ever dropped */
    bool is_early;       /* the failed step is the first or a longer one: no gain of the peak */
};

/* Two objects of one line of the program: the request failed while the line made the second, and
 * the first is still held. Nothing of either was freed. before_bytes is 0 if there are none. */
struct generations {
    uint64_t before_bytes, now_bytes; /* live bytes, so without the refused request */
    uint32_t location;                /* the line */
};

/* The requests before the failure, judged by their sizes. They tell which remedies were tried, or
 * would only delay the failure. */
struct asked {
    bool grows;           /* the failed place asks for more each time, and nothing shows an end */
    bool ignores_batch;   /* it asked for other sizes while all tensors of the model were alike */
    bool piles_up;        /* tensors of many earlier iterations are held */
    struct rising rising; /* of the failed place, the refused request included */
    size_t halved_count;  /* as in struct caught */
    uint64_t times_live;  /* the request is this many times all that is live; 0: not that large */
    bool is_beyond_card;  /* the card could not give it even if this process held nothing */
    bool is_unproven;     /* it is most of the card, and no earlier one shows what it follows */
    bool makes_model;     /* it is of a module that is made, loaded or moved before any forward */
    struct generations generations;
    /* The block of its place that it was to replace, as earlier blocks replaced each other, is
     * still live; 0: there is none. */
    uint64_t replaced_bytes;
    /* The largest request of its place before, of which this one is many times as large and most of
     * the card; 0: it is not. */
    uint64_t outgrown_bytes;
    /* The largest request of its place before, if it was clearly smaller and the free memory of the
     * card, which was exhausted, would be enough for it; 0: it is not. */
    uint64_t fitting_bytes;
};

/* Blocks that only differ in size: a line allocated each of them, larger than the one before, and
 * freed none. */
enum { LARGER_LINES = 2 };
struct larger_line {
    uint32_t place, stack_id;
};
struct larger_blocks {
    uint64_t bytes, count;
    struct larger_line lines[LARGER_LINES];
    size_t line_count; /* may be larger than the array */
};

/* The reserved bytes of a pool with expandable segments, if they help; see expanded.h. */
struct expanded {
    bool helps;
    uint32_t account;
    uint64_t reserved_bytes;
};

enum { REMEDY_SETTING_BYTES = 512 };
struct remedies {
    bool needed; /* an allocation failed, the peak nearly filled the card, or it may be due to a
                    checkpoint */
    uint32_t account;     /* the account of the gains */
    struct moment moment; /* the failure, or the peak */
    bool has_failed;
    uint64_t need_bytes;
    struct asked asked;
    struct larger_blocks larger;
    char setting[REMEDY_SETTING_BYTES]; /* for expandable_segments: "VARIABLE=VALUE" */
    struct remedy items[REMEDY_COUNT];  /* the allocator's remedies first, all others by gain */
    size_t count;
    struct expanded expanded;
};

/* Finds the remedies. The events of `study` must still be open, and `watch` must have watched its
 * replay. The caller need not release anything. */
int remedies_find(struct remedies *remedies, const struct study *study, struct lives_watch *watch,
                  struct err *err);

/* True if the gain is of reserved memory, not of live memory. */
bool remedy_is_of_allocator(const struct remedy *remedy);

/* The thing that a remedy changes. */
enum remedy_way { REMEDY_BY_code, REMEDY_BY_setting, REMEDY_BY_input };

/* One row of remedies.def. The fields text and how still contain placeholders such as {callee}. */
struct remedy_words {
    const char *key;
    enum remedy_way way;
    const char *sign, *text, *how;
    const char *supposes; /* NULL: no assumption */
};
const struct remedy_words *remedy_words(enum remedy_key key);
