/* SPDX-License-Identifier: MIT */
/* Chooses the moment that remedies are for: a failure, or else a peak. */
#pragma once

#include "analyzer/analysis/study.h"
#include "lives.h"

struct advised {
    uint32_t account;
    struct moment moment;
    const struct failure *failure; /* NULL: the moment is a peak */
};

/* Takes the last failure that counts, or if there is none, a peak that left less than 1/10 of the
 * card free. Returns false if no remedy can help, or none is needed. */
bool advised_moment(struct advised *advised, const struct study *study);
/* For a run that needs none: takes the highest peak of all devices if the program loaded a
 * checkpoint, because the peak may be due to it. Returns false if it loaded none. */
bool advised_loading(struct advised *advised, const struct study *study,
                     const struct lives_watch *watch);
