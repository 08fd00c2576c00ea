/* SPDX-License-Identifier: MIT */
/*
 * Tells apart forwards that follow each other without another phase between them, as those of a
 * validation do if the program moves each batch to the card itself:
 *
 *     model(a), line 9     the program's own memory     model(b), line 9: a new forward
 *
 * A call of a module begins a new forward if its caller also began an earlier forward, or ran in
 * this one, and the program allocated memory itself since the last call. So does a call that never
 * ran before, if its line is the one whose calls began this forward and an earlier one: a function
 * that evaluates is called for another model. In a forward that autograd records, no call does so,
 * because the backward ends it.
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "inferred.h"

/* A zeroed struct is ready for use. */
struct forwards {
    struct pair_map calls;      /* which forwards each caller began and ran in; see forwards.c */
    uint32_t number;            /* of the forward that goes on, from 1 */
    uint32_t recent_call;       /* the last call of a module in it; 0: none */
    struct inferred_call first; /* the call of a module that began it */
    bool is_recorded;           /* autograd recorded an operator of it */
    bool has_own;               /* the program allocated memory itself since recent_call */
};

void forwards_release(struct forwards *forwards);

/*
 * Handles an allocation of a forward. *begins is true if the allocation begins this forward,
 * because the phase before it was another one; it is set if the allocation begins a new forward
 * after a forward.
 */
int forwards_follow(struct forwards *forwards, const struct inferred *inferred, uint32_t stack_id,
                    bool is_recorded, bool *begins, struct err *err);
