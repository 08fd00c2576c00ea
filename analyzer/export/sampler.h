/* SPDX-License-Identifier: MIT */
/* Thins a series of values while it goes by: of each time interval it keeps the highest, the lowest
 * and the last value, so that no peak is lost. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct sample {
    uint64_t time_ns, bytes;
    uint64_t number; /* position of the value in its interval, from 1; 0: none */
};

struct sampler {
    uint64_t width_ns; /* of an interval */
    /* Called with each kept value, in the order of time. */
    void (*keep)(void *self, const struct sample *sample);
    void *self;
    uint64_t stretch; /* index of the current interval */
    struct sample highest, lowest, last;
};

/* Returns the width that divides the duration into that many intervals. */
static inline uint64_t sampler_width(uint64_t duration_ns, uint64_t stretches)
{
    return duration_ns / stretches + 1;
}

void sampler_take(struct sampler *sampler, uint64_t time_ns, uint64_t bytes);
/* Ends the current interval. Call it also after the last value. */
void sampler_flush(struct sampler *sampler);
