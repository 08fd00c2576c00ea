/* SPDX-License-Identifier: MIT */
/*
 * Writes the rows of the tables walk and holder to the ring. The rows of holder come first, so a
 * walk that has a row is complete.
 */
#pragma once

#include <stdint.h>

#include "interpose/recording/thread.h"

struct holder_row {
    unsigned long long address, size_bytes;
    const char *kind, *chain, *item; /* item NULL: none */
    long long items_count;           /* -1: none */
    const char *function, *file;     /* function NULL: the place is unknown */
    int line;
};

struct walk_row {
    uint32_t walk_id;
    uint64_t event_number;
    const char *reason, *stopped; /* stopped NULL: complete */
    unsigned long long objects_count;
    uint32_t holders_count; /* rows of holder written so far */
};

void rows_write_holder(struct thread *thread, struct walk_row *walk, const struct holder_row *row);
void rows_write_walk(struct thread *thread, const struct walk_row *walk);
