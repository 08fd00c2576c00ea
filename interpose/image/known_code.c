/* SPDX-License-Identifier: MIT */
/*
 * Keeps one bit for each 64 KiB of addresses. Addresses that are 16 GiB apart share a bit. See
 * known_code.h.
 */
#include "known_code.h"

#include <stdatomic.h>

#define GRANULE_SHIFT 16
#define GRANULES ((uintptr_t)1 << 18)

/* Relaxed order is enough, because a thread closes a library only after it has seen the calls into
 * that library return. */
static _Atomic uint64_t words[GRANULES / 64];

void known_code_note(uintptr_t address)
{
    const uintptr_t granule = (address >> GRANULE_SHIFT) % GRANULES;
    _Atomic uint64_t *word = &words[granule / 64];
    const uint64_t bit = UINT64_C(1) << granule % 64;
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

bool known_code_in(uintptr_t start, uintptr_t end)
{
    const uintptr_t first = start >> GRANULE_SHIFT, last = (end - 1) >> GRANULE_SHIFT;
    bool known = last - first >= GRANULES;
    for (uintptr_t at = first; at <= last && !known; at++) {
        const uintptr_t granule = at % GRANULES;
        known =
            atomic_load_explicit(&words[granule / 64], memory_order_relaxed) >> granule % 64 & 1;
    }
    return known;
}
