/* SPDX-License-Identifier: MIT */
/*
 * A question about a model consists of the model's description, the settings of its run, and the
 * limit of a card. A variant of a question has other settings or a changed model.
 */
#pragma once

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

#define QUESTION_UNLIMITED UINT64_MAX

struct question {
    const struct model_source *source;
    struct model_request request;
    const struct model *model; /* made from source and request */
    struct settings settings;  /* of the model's run */
    uint64_t limit_bytes;      /* most that the framework may hold, or QUESTION_UNLIMITED */
};

#define VARIANT_SET_BYTES 128

/* The parts of a question that a variant may change. */
struct variant {
    const struct model *model; /* the question's, which no variant changes */
    struct settings settings;
    unsigned edits; /* enum model_edit */
    struct tuning tuning;
    char set[VARIANT_SET_BYTES]; /* dimensions in the form of --set; "": no change */
};

struct variant variant_of(const struct question *question);
/* Changes one more dimension of the variant. */
void variant_set(struct variant *variant, const char *name, uint64_t value);
/* 1: *peak is the variant's peak; 0: the model cannot run in this variant; -1: *err says why. */
int variant_peak(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);
/* Does the same as variant_peak, but returns 1 only if the peak is within the question's limit. */
int variant_fits(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);
