/* SPDX-License-Identifier: MIT */
/*
 * A model beside the files that hold its weights: how many bytes each of its tensors has there, and where the description and
 * the files differ, by name. It must not know how files are read.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_STORED_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_STORED_H

#include "analyzer/estimate/weights/weights.h"
#include "model.h"

#define STORED_TEXT_BYTES 160

struct stored_difference {
    char name[STORED_TEXT_BYTES];
    char described[STORED_TEXT_BYTES], found[STORED_TEXT_BYTES]; /* "": it is not there */
};

struct stored {
    struct layer_stored *tensors; /* of all layers */
    struct stored_difference *differences;
    size_t difference_count, difference_capacity;
    uint64_t other_bytes; /* of the files, which are none of the model's */
};

/*
 * After model_resolve: gives the model the bytes of the files, and their type where it is one that a model can be run in.
 * Weights of other types are not trained: the model is for inference then. ERR_INPUT: no tensor is the model's.
 */
int stored_apply(struct model *model, const struct weights *weights, struct err *err);
void stored_free(struct stored *stored);

#endif
