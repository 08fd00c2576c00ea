/* SPDX-License-Identifier: MIT */
/* The sentences about a leak's cause: its sign, what keeps the memory, and what to change. Each
 * function returns 1, or -1 on an error. */
#pragma once

#include "analyzer/analysis/leak_signs.h"
#include "analyzer/page/opening.h"
#include "findings.h"

/* sign: NULL if no sign holds. */
int cause_say(struct opening *opening, const struct leak_sign *sign);
/* Says that the blocks of a holder become more, and whether older ones are freed, unless another
 * reason was said. */
int cause_say_count(struct opening *opening, const struct account_leak *found,
                    const struct leak_evidence *evidence);
/* Names the variable that keeps most of the memory, if a walk found it. */
int cause_say_holder(struct opening *opening, const struct study *study,
                     const struct leak_evidence *evidence);
/* Says what garbage keeps most of the memory at the last walk while the program ran, if it does. */
int cause_say_garbage(struct opening *opening, const struct study *study, uint32_t account,
                      struct err *err);
int cause_say_action(struct opening *opening, const struct leak_sign *sign,
                     const struct leak_evidence *evidence);
/* Says how to give back memory that is not the card's. */
int cause_say_release(struct opening *opening, const struct leak_evidence *evidence);
