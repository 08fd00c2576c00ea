/* SPDX-License-Identifier: MIT */
/*
 * What would have helped, and how much: the remedies of remedies.def whose sign the trace has, for
 * the last failed allocation, else for a peak that nearly filled the card. It must not know how this
 * is shown.
 *
 * The need is the most that was live, or would have been with what was refused. The gain of a remedy
 * is the need less the highest moment of the trace without the bytes that it does away with. It takes
 * one replay beside the first one, which shows how long blocks live (lives.h): whether a place of
 * backward makes gradients or temporaries, what a loop allocates anew, and which lines hold most at
 * the failure, is known at the end of it. It ends at the failure, unless the model of the allocator
 * watches too. A trace that did not fail and has room is not replayed again, nor is one that no remedy
 * but the allocator's could concern: a program without forward, backward and optimizer.
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
    uint32_t stack_id, forward_stack_id; /* whose site the words name; 0: none */
    uint32_t line;                       /* checkpoint, no_grad: the location that calls; 0: none */
    uint32_t callee;     /* the location inside what it calls; 0: not of the program */
    uint64_t count;      /* of the calls */
    bool may_have_graph; /* of autograd, what it is about; false: the trace says that it has none */
    bool has_trained;    /* a backward or an optimizer was seen */
    bool zeroes;         /* no gradient of an iteration before was ever dropped */
    bool
        is_early; /* forward died before the first backward ended: gradients and states were to come */
};

enum { REMEDY_SETTING_BYTES = 512 };
struct remedies {
    bool needed;          /* it failed, or there was next to nothing left */
    uint32_t account;     /* that gains are of */
    struct moment moment; /* the failure, or the peak */
    bool has_failed;
    uint64_t need_bytes;
    char setting[REMEDY_SETTING_BYTES]; /* of expandable_segments: "VARIABLE=VALUE" */
    struct remedy items[REMEDY_COUNT];  /* of the allocator first, then the largest gain */
    size_t count;
};

/* The events of the study's trace are not closed yet; its replay was watched. Nothing to release. */
int remedies_find(struct remedies *remedies, const struct study *study, struct lives_watch *watch,
                  struct err *err);

/* Its gain is of reserved memory, not of live. */
bool remedy_is_of_allocator(const struct remedy *remedy);

/* What is to change. */
enum remedy_way { REMEDY_BY_code, REMEDY_BY_setting, REMEDY_BY_input };

/* One row of remedies.def. In text and how, {what}, {who} and {count} are to be filled in. */
struct remedy_words {
    const char *key;
    enum remedy_way way;
    const char *sign, *text, *how;
    const char *supposes; /* NULL: nothing */
};
const struct remedy_words *remedy_words(enum remedy_key key);

#endif
