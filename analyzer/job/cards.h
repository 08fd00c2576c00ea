/* SPDX-License-Identifier: MIT */
/*
 * Finds processes that used one card at the same time, and the most memory of the card that they
 * held together at one moment. Moments are compared by the monotonic clock, which all processes of
 * a machine share. Contexts are not counted.
 *
 *     process 1   ┌──8──┐    ┌─6─┐         sums   8, 8+5, 5, 5+6, 6
 *     process 2       ┌──────5─────┐              └ highest: 13, not 8 and 5 of different moments
 */
#pragma once

#include "analyzer/replay/history/observer.h"
#include "survey.h"

struct card_sharer {
    int trace, device;   /* `device` is the card's number in the process */
    uint64_t then_bytes; /* live bytes in the process at the moment of the highest sum */
    /* used while the trace is read */
    bool is_read;
    uint64_t last_bytes, peak_bytes;
};

struct card_change;
struct shared_card {
    const char *uuid;
    struct card_sharer *processes;
    int count;
    uint64_t total_bytes;    /* 0: not known */
    bool is_known;           /* false: the traces have more changes than this program keeps */
    uint64_t highest_bytes;  /* the highest sum at one moment */
    int64_t highest_unix_ns; /* that moment */
    uint64_t peaks_bytes;    /* the sum of the processes' own peaks, each at its own moment */
    struct card_change *changes;
    size_t change_count, change_capacity;
};

struct shared_cards {
    struct shared_card *items;
    size_t count, capacity;
};

/* Lists the cards that several processes may have used: cards that are marked is_used, and cards of
 * traces whose peaks are not known yet. On -1 nothing has to be released. */
int shared_cards_list(struct shared_cards *cards, const struct survey *surveys, int count,
                      struct err *err);
void shared_cards_release(struct shared_cards *cards);

/* Watches the replay of one trace. Only the first replay counts; further replays of the trace
 * change nothing. */
struct card_watch {
    struct shared_cards *cards;
    const struct survey *survey;
    int trace;
};
struct observer card_watch_observer(struct card_watch *watch);

/* Keeps only processes that used their card, and only cards with several such processes. */
void shared_cards_keep_used(struct shared_cards *cards, const struct survey *surveys);
/* Sums the memory of the processes, which must all have been watched. Drops cards that they did not
 * share. */
void shared_cards_sum(struct shared_cards *cards, const struct survey *surveys);
