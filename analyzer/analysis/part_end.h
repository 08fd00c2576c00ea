/* SPDX-License-Identifier: MIT */
/*
 * Finds the event at which a part of a run begins or ends, if the user gives it as a moment
 * (moment.h). For phase:NAME, this is the begin or the end of the occurrence that contains the
 * moment. This needs a replay of its own, which part_end watches. It keeps one occurrence for each
 * account.
 */
#pragma once

#include "analyzer/replay/history/observer.h"

struct part_end {
    const char *option, *at; /* --option=at */
    bool is_last;            /* true: the end of the phase, false: its beginning */
    int device;              /* -1: the device with the highest peak */
    bool of_driver;          /* takes the driver's account instead of the leading one */
    uint64_t seq;            /* the result */

    uint64_t open_count; /* open occurrences of the phase, nested or side by side */
    uint64_t begin_index, begin_seq, now_seq;
    struct occurrence {
        uint64_t begin_seq, end_seq;
    } * occurrences; /* by account: the occurrence that contains the account's moment */
    size_t count, capacity;
};

/* on_end fails with ERR_USAGE if the trace has no such moment. */
struct observer part_end_observer(struct part_end *end);
void part_end_release(struct part_end *end);
