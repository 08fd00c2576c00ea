/* SPDX-License-Identifier: MIT */
/*
 * Compares a model with its weight files. Tensors are matched by name. The result has the bytes of
 * each tensor in the files, and the differences between description and files.
 */
#pragma once

#include "analyzer/estimate/weights/weights.h"
#include "model.h"

#define STORED_TEXT_BYTES 160

struct stored_difference {
    char name[STORED_TEXT_BYTES];
    char described[STORED_TEXT_BYTES], found[STORED_TEXT_BYTES]; /* "": this side lacks it */
};

struct stored {
    struct layer_stored *tensors; /* tensors of all layers */
    struct stored_difference *differences;
    size_t difference_count, difference_capacity;
    uint64_t other_bytes; /* of tensors in the files that the model does not have */
};

/*
 * Called after model_resolve. Gives the model the bytes of the files, and the files' element type
 * if a model can run in that type. Weights of other types cannot be trained, so the model is set to
 * inference. ERR_INPUT: no tensor in the files belongs to the model.
 */
int stored_apply(struct model *model, const struct weights *weights, struct err *err);
void stored_free(struct stored *stored);
