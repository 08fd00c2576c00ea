/* SPDX-License-Identifier: MIT */
/*
 * Looks for a leak in each account in which a program allocates: memory of the card (the driver's,
 * and pools of frameworks), managed memory, and pinned memory of the host. Their bytes are never
 * added. An answer is about the worst account; "no leak" is said only if no account leaks.
 */
#pragma once

#include "analyzer/analysis/leaks.h"
#include "analyzer/page/parts.h"

/* An account and its verdict. */
struct worst {
    struct account_leak found;
    uint32_t account; /* HISTORY_NONE: nothing was allocated */
};

/* The worst account of each kind. Memory of the card is one kind. */
enum { OF_CARD, OF_MANAGED, OF_PINNED, WORST_KINDS };
struct findings {
    struct worst items[WORST_KINDS];
    size_t first; /* the item that the answer is about */
};

int findings_find(struct findings *findings, const struct study *study, const struct view *view,
                  struct err *err);
void findings_release(struct findings *findings);

/* Returns "device memory", "managed memory" or "pinned host memory". */
const char *findings_kind_name(size_t kind);

#define FINDINGS_LAYER_BYTES (PAGE_LAYER_BYTES + 64)
/* Writes " in the driver's memory, outside the pytorch pool" or " in pinned host memory", or "" for
 * the leading account. */
const char *findings_layer_text(char out[FINDINGS_LAYER_BYTES], const struct study *study,
                                uint32_t account);

/* Writes " of device memory and pinned host memory", the kinds that do not leak, or "" if only the
 * card's memory was used. Sets *flat_since to the last step in which one of them still rose; 0:
 * none rose. */
enum { KINDS_TEXT_BYTES = 96 };
const char *findings_kinds_text(char out[KINDS_TEXT_BYTES], uint64_t *flat_since,
                                const struct findings *findings);

/* "step", or "round" if the leak is in rounds after the last step. */
const char *findings_round_word(const struct account_leak *found);

/* Says after how many more steps the card is full, if that is known. */
int findings_say_future(struct opening *opening, const struct account_leak *found);
