/* SPDX-License-Identifier: MIT */
/*
 * Who held memory at the moment that an export shows: of each device one layer, the leading one unless
 * another was asked for. It must not know formats.
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_HELD_H
#define GPUMEMTRACE_ANALYZER_EXPORT_HELD_H

#include "frames.h"
#include "analyzer/analysis/sites.h"

struct held_layer {
    uint32_t account;
    struct moment moment;
    struct sites sites;
};

struct held { /* devices without such a moment are not in it */
    struct held_layer *items;
    size_t count;
};

/* What a format does with it. */
typedef int held_writer(const struct export *export, struct export_frames *frames,
                        const struct held *held, struct err *err);
int held_write(const struct export *export, held_writer *writer, struct err *err);

#endif
