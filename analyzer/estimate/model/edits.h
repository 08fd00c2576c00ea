/* SPDX-License-Identifier: MIT */
/*
 * Makes changes to a model that a person might make in its code, such as other layers or a smaller
 * input. This is done before model_resolve, so that widths and shapes are computed with the
 * changes.
 */
#pragma once

#include "model.h"

enum model_edit {
    EDIT_inplace = 1 << 0, /* each ReLU overwrites its input if nothing else needs it */
    EDIT_gru = 1 << 1,     /* each LSTM becomes a GRU */
    EDIT_narrow = 1 << 2,  /* each convolution makes half the channels */
    EDIT_quarter = 1 << 3, /* images have half the height and width */
};

/* -1: *err says that the model has nothing that could be changed in this way. */
int model_edit(struct model *model, unsigned edits, struct err *err);
