/* SPDX-License-Identifier: MIT */
/* Sentences about blocks that are all kept (growth.kept), or of which some are lost (growth.lost),
 * old ones replaced (growth.filled), or many freed at once (growth.dropped_count). */
#pragma once

#include "analyzer/analysis/leaks.h"
#include "analyzer/page/parts.h"

/* Says that each block is larger than the one before, and what to do. layer: the words after the
 * bytes, "" for the leading layer. */
int kept_say_larger(struct opening *opening, const struct account_leak *found, const char *layer,
                    enum verdict_role role);
/* Says how many blocks of a line are lost (growth.lost must have a site). */
int kept_say_lost(struct opening *opening, const struct study *study,
                  const struct account_leak *found, struct err *err);
/* Says since when a cache is full (growth.filled must have a site). */
int kept_say_filled(struct opening *opening, const struct account_leak *found,
                    enum verdict_role role);
/* Names the lines, if any, that never freed a block. layer: as above. */
int kept_say_all(struct opening *opening, const struct account_leak *found, const char *layer);
/* Names the line, if any, whose blocks are freed together. */
int kept_say_dropped(struct opening *opening, const struct account_leak *found);
/* Says what is kept after the last step (growth.after must have sites). */
int kept_say_after(struct opening *opening, const struct account_leak *found,
                   enum verdict_role role);
