/* SPDX-License-Identifier: MIT */
/*
 * A figure over time, thinned while it goes by: of each stretch of time its highest, its lowest and its last
 * value, so that no peak is lost. It must not know what the figure is.
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_SAMPLER_H
#define GPUMEMTRACE_ANALYZER_EXPORT_SAMPLER_H

#include <stdint.h>
#include <stdio.h>

struct sample {
    uint64_t time_ns, bytes;
    uint64_t number; /* of the value in its stretch, from 1; 0: there is none */
};

struct sampler {
    uint64_t width_ns; /* of a stretch */
    /* Told what is kept, in the order of time. */
    void (*keep)(void *self, const struct sample *sample);
    void *self;
    uint64_t stretch; /* the current one */
    struct sample highest, lowest, last;
};

/* A run of that duration in that many stretches. */
static inline uint64_t sampler_width(uint64_t duration_ns, uint64_t stretches)
{
    return duration_ns / stretches + 1;
}

void sampler_take(struct sampler *sampler, uint64_t time_ns, uint64_t bytes);
/* Ends the current stretch: also when no more comes. */
void sampler_flush(struct sampler *sampler);

#endif
