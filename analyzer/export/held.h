/* SPDX-License-Identifier: MIT */
/* Collects the live memory at the moment that an export shows, by call stack. Each device shows one
 * layer: the leading layer, unless --layer is given. */
#pragma once

#include "frames.h"
#include "analyzer/analysis/sites.h"

struct held_layer {
    uint32_t account;
    struct moment moment;
    struct sites sites;
};

struct held { /* devices without such a moment are left out */
    struct held_layer *items;
    size_t count;
};

/* A format's function, which held_write calls with the live memory. */
typedef int held_writer(const struct export *export, struct export_frames *frames,
                        const struct held *held, struct err *err);
int held_write(const struct export *export, held_writer *writer, struct err *err);
