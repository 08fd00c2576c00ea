/* SPDX-License-Identifier: MIT */
/* Functions and types that the files of the summary share. */
#pragma once

#include "summary.h"
#include "analyzer/analysis/leaks.h"
#include "analyzer/util/array.h"

struct summary_place {
    const struct study *study;
    const struct device_use *use;
    int process;
};

/* Rounds a slope to whole bytes. */
static inline int64_t summary_whole(double bytes)
{
    return bytes < 0 ? -(int64_t)(0.5 - bytes) : (int64_t)(bytes + 0.5);
}

int summary_add_sites(struct rows *rows, const struct summary_place *place,
                      const struct account_leak *found, struct err *err);
int summary_add_failures(struct rows *rows, const struct study *study, const struct origin *origin,
                         int process, struct err *err);
