/* SPDX-License-Identifier: MIT */
/*
 * Changes to a model that a person might make to its code: other layers, a smaller input. They are made before
 * the model is resolved, so that what follows from them (widths, shapes) is computed anew. It must not know memory.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_EDITS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_EDITS_H

#include "model.h"

enum model_edit {
    EDIT_inplace = 1 << 0, /* each ReLU that may overwrites its input */
    EDIT_gru = 1 << 1,     /* each LSTM is a GRU */
    EDIT_narrow = 1 << 2,  /* each convolution makes half the channels */
    EDIT_quarter = 1 << 3, /* images of half the height and width */
};

/* -1, and *err: the model has nothing that could be changed so. */
int model_edit(struct model *model, unsigned edits, struct err *err);

#endif
