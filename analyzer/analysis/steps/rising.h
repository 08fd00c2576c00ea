/* SPDX-License-Identifier: MIT */
/*
 * Tells whether the requests of one place, or of one call stack, grow from one to the next. A
 * buffer that is copied to make room asks for more each time. A smaller batch only delays its
 * failure.
 *
 *     470  940  1410  1880  2350                 grows: each is larger, by as much as the others
 *     512  256   128  512  256                   does not: a size fell
 *     1  2  4  8  1  2  4  8                     does not: an earlier run was as long
 *     470  940  1410  1880  2350                 does not: each block ended before the next one
 *     with batches of 1  2  3  4  5              began, and the batches grew (sorted data)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rising_request {
    uint64_t size_bytes;
    uint64_t batch_bytes; /* inputs of the iteration so far; 0: none is known */
    bool is_beside;       /* an earlier block of the place is still live */
};

/* Requests in order, none of them smaller than the one before. A zeroed struct has none. Equal
 * sizes belong to the run, because the layers of a model may ask at the same place. */
struct rising {
    uint64_t first_bytes, last_bytes;
    uint64_t most_before_bytes; /* the largest of all requests before the last one */
    uint64_t first_batch_bytes, last_batch_bytes;
    /* a batch was smaller than the one before, or a larger block began beside an earlier one */
    bool is_of_buffer;
    uint64_t least_rise_bytes, most_rise_bytes;
    uint32_t rises_count;         /* requests that were larger than the one before */
    uint32_t earlier_rises_count; /* the most rises of a run that ended */
    uint32_t falls_count;         /* runs that ended */
    uint32_t doublings_count;     /* the last rises, if each was about the size before it */
};

void rising_add(struct rising *rising, const struct rising_request *request);

/* True if the requests of the run grew so often that they will go on to grow. False if they grew
 * because the batches did. */
bool rising_goes_on(const struct rising *rising);
/* True if no request was smaller than the one before, and the last ones doubled so often that they
 * are those of a buffer. The channels of an encoder double, too, so ask whether they are layers. */
bool rising_doubles(const struct rising *rising);
/* True if no request was smaller than the one before, and they will go on to grow. */
bool rising_never_falls(const struct rising *rising);
/* True if these requests are all, nothing of them was freed, each was larger than the one before,
 * and they will go on to grow. */
bool rising_is_kept(const struct rising *rising, uint64_t births_count, uint64_t frees_count);
/* True if all requests were of one size. */
bool rising_is_flat(const struct rising *rising);
/* True if all requests grew by about the same number of bytes. */
bool rising_is_even(const struct rising *rising);
