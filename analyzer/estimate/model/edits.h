/* SPDX-License-Identifier: MIT */
/*
 * Changes to a model that a person might make in its code: other layers, a smaller input. They are
 * made before model_resolve, so that widths and shapes are computed anew.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_EDITS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_EDITS_H

#include "model.h"

enum model_edit {
    EDIT_inplace = 1 << 0, /* each ReLU overwrites its input, if it may */
    EDIT_gru = 1 << 1,     /* each LSTM is a GRU */
    EDIT_narrow = 1 << 2,  /* each convolution makes half the channels */
    EDIT_quarter = 1 << 3, /* images of half the height and width */
};

/* -1: *err says that the model has nothing to change in that way. */
int model_edit(struct model *model, unsigned edits, struct err *err);

#endif
