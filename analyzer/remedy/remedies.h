/* SPDX-License-Identifier: MIT */
/*
 * Finds the remedies that would have helped, and their gains: those of remedies.def whose sign is
 * in the trace, for the last failed allocation, else for a peak that nearly filled the card.
 *
 * The need is the highest live bytes, the refused request included. The gain of a
 * remedy is the need less the highest live bytes of the trace without the bytes that
 * the remedy removes. This takes a second replay, because only the end of the first one
 * shows how long blocks live (lives.h): whether a place of backward makes gradients or
 * temporaries, what a loop allocates again, and which lines hold most at the failure.
 * The second replay ends at the failure, unless the model of the allocator watches too.
 * It is skipped if the trace did not fail and has room, and if only the allocator's
 * remedies could concern it: a program without forward, backward and optimizer.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_REMEDIES_H
#define GPUMEMTRACE_ANALYZER_REMEDY_REMEDIES_H

#include "analyzer/analysis/study.h"
#include "lives.h"
#include "signs.h"

struct remedy {
    enum remedy_key key;
    bool gain_known;
    uint64_t gain_bytes;
    uint32_t stack_id, forward_stack_id; /* stacks of the site that the text names; 0: none */
    uint32_t line;                       /* checkpoint, no_grad: the calling location; 0: none */
    uint32_t callee;     /* the program's location that `line` calls; 0: none of the program */
    uint64_t count;      /* number of calls */
    bool may_have_graph; /* its bytes may be autograd's; false: the trace shows that they are not */
    bool has_trained;    /* a backward or an optimizer was seen */
    bool zeroes;         /* no gradient of an earlier iteration was ever dropped */
    bool is_early;       /* forward failed before gradients and states were allocated */
};

enum { REMEDY_SETTING_BYTES = 512 };
struct remedies {
    bool needed;          /* an allocation failed, or the peak nearly filled the card */
    uint32_t account;     /* the account of the gains */
    struct moment moment; /* the failure, or the peak */
    bool has_failed;
    uint64_t need_bytes;
    char setting[REMEDY_SETTING_BYTES]; /* for expandable_segments: "VARIABLE=VALUE" */
    struct remedy items[REMEDY_COUNT];  /* the allocator's first, then by gain */
    size_t count;
};

/* study: its events are still open; watch: has watched its replay. Nothing to release. */
int remedies_find(struct remedies *remedies, const struct study *study, struct lives_watch *watch,
                  struct err *err);

/* True if the gain is of reserved memory, not of live memory. */
bool remedy_is_of_allocator(const struct remedy *remedy);

/* The thing that a remedy changes. */
enum remedy_way { REMEDY_BY_code, REMEDY_BY_setting, REMEDY_BY_input };

/* One row of remedies.def. Placeholders as {callee} in text and how are still to be filled in. */
struct remedy_words {
    const char *key;
    enum remedy_way way;
    const char *sign, *text, *how;
    const char *supposes; /* NULL: no assumption */
};
const struct remedy_words *remedy_words(enum remedy_key key);

#endif
