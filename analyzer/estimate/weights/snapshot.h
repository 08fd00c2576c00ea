/* SPDX-License-Identifier: MIT */
/*
 * Which files of weights a path means, and which config.json lies beside them: a file, an index, or a folder as Hugging Face
 * keeps a model. It must not know what is in them.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_SNAPSHOT_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_SNAPSHOT_H

#include "weights.h"

enum snapshot_kind { SNAPSHOT_NONE, SNAPSHOT_SAFETENSORS, SNAPSHOT_INDEX, SNAPSHOT_GGUF };

struct snapshot {
    enum snapshot_kind kind; /* NONE: a folder with a config only */
    char *path;              /* of the weights */
    char *config;            /* NULL: none beside them */
};

/* Whether the path is a folder, or ends or begins as a file of weights does. */
bool snapshot_is(const char *path);
int snapshot_find(struct snapshot *snapshot, const char *path, struct err *err);
/* Reads the weights, if there are some. */
int snapshot_read(const struct snapshot *snapshot, struct weights *weights, struct err *err);
void snapshot_release(struct snapshot *snapshot);

#endif
