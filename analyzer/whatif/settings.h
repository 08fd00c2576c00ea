/* SPDX-License-Identifier: MIT */
/* Reads the settings of PyTorch's allocator from a recorded run, and applies changes to them. */
#pragma once

#include "analyzer/allocator/allocator.h"
#include "analyzer/load/trace.h"

/* The settings of one run of the model. */
struct whatif_settings {
    struct allocator_settings allocator;
    double fraction; /* of the card, as memory_fraction=… sets it; 0: as recorded */
};

/* Fills the settings of the recorded run, as far as the trace has them. -1: *err names a setting
 * that the model does not know. */
int settings_of_trace(struct whatif_settings *settings, const struct trace *trace, struct err *err);

/*
 * Applies settings in the form that --what-if takes, separated by commas: "expandable_segments",
 * "max_split_size=128MiB", "no-cache", "garbage_collection=0.8", "memory_fraction=0.5".
 */
int settings_change(struct whatif_settings *settings, const char *text, struct err *err);
