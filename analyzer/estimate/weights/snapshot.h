/* SPDX-License-Identifier: MIT */
/*
 * Finds the weight files that a path means, and the config.json beside them. The path is that of a
 * weight file, of an index, or of a folder in which a model has the layout of Hugging Face.
 */
#pragma once

#include "weights.h"

enum snapshot_kind { SNAPSHOT_NONE, SNAPSHOT_SAFETENSORS, SNAPSHOT_INDEX, SNAPSHOT_GGUF };

struct snapshot {
    enum snapshot_kind kind; /* SNAPSHOT_NONE: a folder with a config only */
    char *path;              /* of the weight file or index */
    char *config;            /* NULL: there is none beside the weights */
};

/* Returns whether the path is a folder, or has the beginning or the ending of a weight file. */
bool snapshot_is(const char *path);
int snapshot_find(struct snapshot *snapshot, const char *path, struct err *err);
/* Reads the weights, if there are any. */
int snapshot_read(const struct snapshot *snapshot, struct weights *weights, struct err *err);
void snapshot_release(struct snapshot *snapshot);
