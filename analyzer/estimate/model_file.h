/* SPDX-License-Identifier: MIT */
/*
 * Reads the description of a model from a file: decides which reader it is for. It must not know
 * the fields of any format.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FILE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FILE_H

#include "model.h"

#define MODEL_FILE_MOST_BYTES (64 << 20)

/* Reads and resolves a description. ERR_INPUT names the file, the layer and the field. */
int model_open(struct model *model, const char *path, struct err *err);

#endif
