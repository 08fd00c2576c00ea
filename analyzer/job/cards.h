/* SPDX-License-Identifier: MIT */
/*
 * Processes that had one card at a time: the most that they held of it together at one moment, by the monotonic
 * clock that all processes of a machine share. Their contexts are not counted. It must not know ranks.
 *
 *     process 1   ┌──8──┐    ┌─6─┐         sums   8, 8+5, 5, 5+6, 6
 *     process 2       ┌──────5─────┐              └ the highest: 13, not 8 and 5 of different moments
 */
#ifndef GPUMEMTRACE_ANALYZER_JOB_CARDS_H
#define GPUMEMTRACE_ANALYZER_JOB_CARDS_H

#include "survey.h"

struct shared_card {
    const char *uuid;
    int *traces;  /* of its processes */
    int *devices; /* the card's number in each */
    int count;
    uint64_t total_bytes;    /* 0: not known */
    bool is_known;           /* false: the traces have more steps than are kept */
    uint64_t highest_bytes;  /* at one moment */
    int64_t highest_unix_ns; /* the moment */
    uint64_t *then_bytes;    /* of each process at that moment */
    uint64_t peaks_bytes;    /* the sum of their peaks, of whatever moments */
};

struct shared_cards {
    struct shared_card *items;
    size_t count, capacity;
};

/* Replays the traces of cards that several processes had memory of. On -1 nothing has to be released. */
int shared_cards_find(struct shared_cards *cards, const struct survey *surveys, int count,
                      struct err *err);
void shared_cards_release(struct shared_cards *cards);

#endif
