/* SPDX-License-Identifier: MIT */
/*
 * Processes that used one card at the same time: the most that they held of it together at one
 * moment, by the monotonic clock, which all processes of a machine share. Contexts are not counted.
 *
 *     process 1   ┌──8──┐    ┌─6─┐         sums   8, 8+5, 5, 5+6, 6
 *     process 2       ┌──────5─────┐              └ highest: 13, not 8 and 5 of different moments
 */
#ifndef GPUMEMTRACE_ANALYZER_JOB_CARDS_H
#define GPUMEMTRACE_ANALYZER_JOB_CARDS_H

#include "survey.h"

struct shared_card {
    const char *uuid;
    int *traces;  /* of the card's processes */
    int *devices; /* the card's number in each process */
    int count;
    uint64_t total_bytes;    /* 0: not known */
    bool is_known;           /* false: the traces have more changes than are kept */
    uint64_t highest_bytes;  /* the highest sum at one moment */
    int64_t highest_unix_ns; /* that moment */
    uint64_t *then_bytes;    /* live in each process at that moment */
    uint64_t peaks_bytes;    /* the sum of the processes' own peaks, each at its own moment */
};

struct shared_cards {
    struct shared_card *items;
    size_t count, capacity;
};

/* Finds the cards on which several processes had memory, by replaying their traces. On -1 nothing
 * has to be released. */
int shared_cards_find(struct shared_cards *cards, const struct survey *surveys, int count,
                      struct err *err);
void shared_cards_release(struct shared_cards *cards);

#endif
