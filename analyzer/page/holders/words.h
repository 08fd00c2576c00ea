/* SPDX-License-Identifier: MIT */
/* A holder and a walk in words. */
#pragma once

#include "analyzer/analysis/holders/held_sums.h"

#define HOLDER_TEXT_BYTES 1024
/* Writes "curve.kept_scores (list of 200)", or "losses (200 items), through autograd's graph". The
 * number of items is left out if the chain goes through other containers. */
const char *holder_name(char out[HOLDER_TEXT_BYTES], const struct trace *trace,
                        const struct held_sum *sum);
/* Writes ", filled at score.py:28", or "" if the line is not known. */
const char *holder_place(char out[HOLDER_TEXT_BYTES], const struct trace *trace,
                         const struct held_sum *sum);
/* Returns the sentence of holder_words.def; NULL: the kind is not in the list. */
const char *holder_action(const struct held_sum *sum);
/* True if no program needs what such a holder keeps. */
bool holder_is_garbage(const struct held_sum *sum);

#define WALK_TEXT_BYTES 128
/* Writes when the walk was made: "at the end", "at the failed allocation" or "at 12.3 s after
 * the start". */
const char *walk_words(char out[WALK_TEXT_BYTES], const struct walk_blocks *walk);
/* Returns a sentence if the walk stopped early and may have missed holders, else "". */
const char *walk_limit(char out[WALK_TEXT_BYTES], const struct walk_blocks *walk);
