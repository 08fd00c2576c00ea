/* SPDX-License-Identifier: MIT */
/*
 * An end of a part of a run that is given as a moment (moment.h): at which event it is. Of phase:NAME
 * it is where the occurrence that holds that moment begins or ends. A replay of its own finds it,
 * which part_end watches; it keeps one occurrence for each account. It must not know what is shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_PART_END_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_PART_END_H

#include "analyzer/replay/history/observer.h"

struct part_end {
    const char *option, *at; /* --option=at */
    bool is_last;            /* of a phase its end is meant, else its beginning */
    int device;              /* -1: the one of which most was live at its moment */
    bool of_driver; /* the moment of the driver's layer is meant, else of the leading one */
    uint64_t seq;   /* the answer */

    uint64_t open_count; /* occurrences of the phase, within one another or side by side */
    uint64_t begin_index, begin_seq, now_seq;
    struct occurrence {
        uint64_t begin_seq, end_seq;
    } * occurrences; /* by account: the one that holds its moment */
    size_t count, capacity;
};

/* on_end fails with ERR_USAGE if the trace has no such moment. */
struct observer part_end_observer(struct part_end *end);
void part_end_release(struct part_end *end);

#endif
