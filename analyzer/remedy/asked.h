/* SPDX-License-Identifier: MIT */
/* Judges a failed request by the requests before it; see struct asked and struct larger_blocks. */
#pragma once

#include "analyzer/oom/oom.h"
#include "at_moment.h"
#include "remedies.h"

/* The failure of `oom` is of the account of `at`. card_bytes is 0 if it is unknown. Returns -1 if
 * there is no memory. */
int asked_find(struct asked *asked, const struct at_moment *at, const struct lives *lives,
               const struct caught *caught, const struct oom *oom, uint64_t card_bytes,
               struct err *err);

/* Learns from the answered questions whether tensors of many iterations are held. */
void asked_learn(struct asked *asked, const struct without *without, uint64_t need_bytes);
/* True if the requests before the failure show that the remedy does not help: a smaller batch was
 * tried, or nothing shows that the request follows the batch, or the request grows until it fails
 * again, or what is held does and the remedy does not let go of it, or the request alone is too
 * large and the remedy leaves it as it is. */
bool asked_refutes(const struct asked *asked, enum remedy_key key);

void larger_blocks_find(struct larger_blocks *larger, const struct at_moment *at,
                        const struct lives *lives);
