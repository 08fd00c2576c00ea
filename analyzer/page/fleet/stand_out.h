/* SPDX-License-Identifier: MIT */
/*
 * Who stands out in a run: a device of a rank that one of the engine's tables names, with
 * everything that the tables say of it.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_FLEET_STAND_OUT_H
#define GPUMEMTRACE_ANALYZER_PAGE_FLEET_STAND_OUT_H

#include "analyzer/fleet/fleet.h"
#include "analyzer/util/text_list.h"

enum { STAND_OUT_LABEL_BYTES = 64 };

struct stand_out {
    int64_t rank, process, device; /* device INT64_MIN: all devices of the process */
    uint64_t peak_bytes;
    int64_t more_bytes; /* than the median; 0: about the median */
    size_t difference;  /* row of its largest difference to the median; SIZE_MAX: none */
    size_t growth;      /* row that says that it leaks while few others do; SIZE_MAX: none */
    size_t failure;     /* row of its first fatal failure; SIZE_MAX: none */
    size_t ending;      /* row that says that it was killed; SIZE_MAX: none */
};

struct stand_outs {
    struct stand_out *items; /* the first failure of the run, then the highest above the median */
    size_t count, capacity;
    bool names_devices, names_processes;
    bool all_grow; /* most devices leak, so a leak makes none stand out */
};

int stand_outs_find(struct stand_outs *found, const struct fleet *fleet, struct err *err);
void stand_outs_release(struct stand_outs *found);

/* "rank 3", "rank 3 device 1". */
const char *stand_out_label(const struct stand_outs *found, const struct stand_out *one,
                            char label[STAND_OUT_LABEL_BYTES]);
/* Adds sentences for the first few of them. */
int stand_outs_say(struct text_list *said, const struct stand_outs *found,
                   const struct fleet *fleet, struct err *err);

#endif
