/* SPDX-License-Identifier: MIT */
/*
 * Finds memory of one rank on the card of another rank. A place is astray if its trace has its
 * highest peak on another card, and this card has the highest peak of another trace, which held
 * memory on it at the same moment.
 *
 *     card 0   rank 0 ████████████   rank 1 ███  astray
 *     card 1                         rank 1 ██████████
 */
#pragma once

#include "job.h"

/* Sets is_astray of the job's places. The job's cards must be summed. */
void strays_mark(struct job *job);

/* The places on one card that are astray. */
struct strays {
    const struct shared_card *card;
    int owner;     /* the trace whose card it is */
    size_t *items; /* indices of job->places; the caller frees them */
    size_t count, largest;
    uint64_t bytes; /* the sum of their peaks */
    /* The line that holds most at the peak of the largest place. "": not known. */
    char site[JOB_SITE_BYTES];
    bool is_loaded; /* torch.load made it */
};

/* Returns 1 if the card has places that are astray, 0 if it has none, -1 on an error. Releases
 * nothing: the caller frees strays->items. */
int strays_on_card(struct strays *strays, struct job *job, const struct shared_card *card,
                   struct err *err);
