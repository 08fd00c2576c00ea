/* SPDX-License-Identifier: MIT */
/* Settings of PyTorch's allocator: those of a recorded run, and changes to them. */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_SETTINGS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_SETTINGS_H

#include "analyzer/allocator/allocator.h"
#include "analyzer/load/trace.h"

/* The settings of one run of the model. */
struct whatif_settings {
    struct allocator_settings allocator;
    double fraction; /* of the card, set by memory_fraction=…; 0: as recorded */
};

/* The recorded run's settings, as far as the trace has them. -1: *err names a setting that the
 * model does not know. */
int settings_of_trace(struct whatif_settings *settings, const struct trace *trace, struct err *err);

/*
 * Applies settings as --what-if takes them, with commas between: "expandable_segments",
 * "max_split_size=128MiB", "no-cache", "garbage_collection=0.8", "memory_fraction=0.5".
 */
int settings_change(struct whatif_settings *settings, const char *text, struct err *err);

#endif
