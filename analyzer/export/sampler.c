/* SPDX-License-Identifier: MIT */
/* Thins a series; see sampler.h. */
#include "sampler.h"

void sampler_take(struct sampler *sampler, uint64_t time_ns, uint64_t bytes)
{
    const uint64_t stretch = time_ns / sampler->width_ns;
    if (stretch != sampler->stretch)
        sampler_flush(sampler);
    sampler->stretch = stretch;
    sampler->last = (struct sample){time_ns, bytes, sampler->last.number + 1};
    if (sampler->last.number == 1 || bytes > sampler->highest.bytes)
        sampler->highest = sampler->last;
    if (sampler->last.number == 1 || bytes < sampler->lowest.bytes)
        sampler->lowest = sampler->last;
}

void sampler_flush(struct sampler *sampler)
{
    const struct sample *first = &sampler->highest, *second = &sampler->lowest;
    if (!sampler->last.number)
        return;
    if (first->number > second->number) {
        first = &sampler->lowest;
        second = &sampler->highest;
    }
    sampler->keep(sampler->self, first);
    if (second->number != first->number)
        sampler->keep(sampler->self, second);
    if (sampler->last.number != second->number)
        sampler->keep(sampler->self, &sampler->last);
    sampler->last.number = 0;
}
