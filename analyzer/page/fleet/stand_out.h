/* SPDX-License-Identifier: MIT */
/*
 * Finds the devices of ranks that stand out in a run. A device stands out if one of the engine's
 * tables names it. Each entry has all that the tables say of its device.
 */
#pragma once

#include "analyzer/fleet/fleet.h"
#include "analyzer/page/verdict/verdict.h"

enum { STAND_OUT_LABEL_BYTES = 64 };

struct stand_out {
    int64_t rank, process, device; /* device INT64_MIN: all devices of the process */
    uint64_t peak_bytes;
    int64_t more_bytes; /* how much more it holds than the median; 0: about the median */
    size_t difference;  /* row of its largest difference to the median; SIZE_MAX: none */
    size_t growth;      /* row that says that it leaks, if few other devices leak; SIZE_MAX: none */
    size_t failure;     /* row of its first fatal failure; SIZE_MAX: none */
    size_t ending;      /* row that says that it was killed; SIZE_MAX: none */
};

struct stand_outs {
    /* the first failure of the run, followed by the others, the highest above the median first */
    struct stand_out *items;
    size_t count, capacity;
    bool names_devices, names_processes;
    bool all_grow; /* most devices leak, so no device stands out by its leak */
};

int stand_outs_find(struct stand_outs *found, const struct fleet *fleet, struct err *err);
void stand_outs_release(struct stand_outs *found);

/* Returns the entry's name: "rank 3", "rank 3 device 1". */
const char *stand_out_label(const struct stand_outs *found, const struct stand_out *one,
                            char label[STAND_OUT_LABEL_BYTES]);
/* Adds sentences for the first few entries. */
void stand_outs_say(struct verdict *said, const struct stand_outs *found,
                    const struct fleet *fleet);
