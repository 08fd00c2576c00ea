/* SPDX-License-Identifier: MIT */
/*
 * Settings of PyTorch's allocator: those of a recorded run, and changes to them. It must not know
 * what follows from one.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_SETTINGS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_SETTINGS_H

#include "analyzer/allocator/allocator.h"
#include "analyzer/load/trace.h"

/* A setting, or several with commas between, as --what-if takes them. */
struct whatif_settings {
    struct allocator_settings allocator;
    double fraction; /* of the card, with memory_fraction=…; 0: as it was */
};

/* What PyTorch's allocator was set to, as far as the trace tells. -1: *err names what the model
 * does not know. */
int settings_of_trace(struct whatif_settings *settings, const struct trace *trace, struct err *err);

/* "expandable_segments", "max_split_size=128MiB", "no-cache", "garbage_collection=0.8",
 * "memory_fraction=0.5". */
int settings_change(struct whatif_settings *settings, const char *text, struct err *err);

#endif
