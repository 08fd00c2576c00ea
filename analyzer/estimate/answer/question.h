/* SPDX-License-Identifier: MIT */
/*
 * A question about a model: its description, the settings of its run, and the card's limit; and the
 * variants of a question, in which some of that is changed.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_QUESTION_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_QUESTION_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

#define QUESTION_UNLIMITED UINT64_MAX

struct question {
    const struct model_source *source;
    struct model_request request;
    const struct model *model; /* made from source and request */
    struct settings settings;  /* of its run */
    uint64_t limit_bytes;      /* that the framework may hold, or QUESTION_UNLIMITED */
};

#define VARIANT_SET_BYTES 128

/* The question with some of it changed. */
struct variant {
    struct settings settings;
    unsigned edits; /* enum model_edit */
    struct tuning tuning;
    char set[VARIANT_SET_BYTES]; /* dimensions, as in --set; "": no change */
};

struct variant variant_of(const struct question *question);
/* Changes one more dimension of the variant. */
void variant_set(struct variant *variant, const char *name, uint64_t value);
/* 1: *peak is the variant's peak; 0: the model cannot run so; -1: *err. */
int variant_peak(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);
/* As variant_peak, but 1 only if the peak is within the question's limit. */
int variant_fits(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);

#endif
