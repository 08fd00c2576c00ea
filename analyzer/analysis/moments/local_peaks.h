/* SPDX-License-Identifier: MIT */
/*
 * The highest separate moments of each account: between any two of them, the live bytes fell by
 * more than a quarter of the lower one. Watches the replay and keeps ten moments for each account.
 * The caller makes the history keep what was live at these moments.
 *
 *     100        ▲                        100 and 70 are separate, because 30 lies between them;
 *       70       █ █ ▲     ▲               the 70 beside the peak is not: it fell to 65 only
 *       65      █   █ █   █ █
 *       30     █       ███   █
 */
#pragma once

#include "analyzer/replay/history/observer.h"

enum { LOCAL_PEAKS_MOST = 10 };

struct local_peak {
    struct moment at; /* the first moment of that height */
    uint64_t bytes;
    uint32_t path; /* phase of the block that was born at this moment */
};

struct account_local_peaks {
    struct local_peak items[LOCAL_PEAKS_MOST]; /* by bytes, descending; equal ones by time */
    size_t count;
    struct local_peak now;     /* current state of the account */
    struct local_peak highest; /* highest since it began to rise */
    uint64_t lowest_bytes;     /* lowest since it began to fall */
    bool is_rising, has_changed;
};

/* Zeroed is empty and ready for use. */
struct local_peaks {
    struct account_local_peaks *accounts; /* by account */
    size_t account_count, account_capacity;
    uint32_t *changed; /* accounts that the current event changed */
    size_t changed_count, changed_capacity;
};

struct observer local_peaks_observer(struct local_peaks *local_peaks);
void local_peaks_release(struct local_peaks *local_peaks);

struct keeper local_peaks_keeper(const struct local_peaks *local_peaks);

/* The local peaks of an account; empty if it never held anything. */
const struct account_local_peaks *local_peaks_of(const struct local_peaks *local_peaks,
                                                 uint32_t account);
