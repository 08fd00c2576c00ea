/* SPDX-License-Identifier: MIT */
/*
 * What is asked about a model: its description, how it is run, and on which card; and what the same would need
 * if some of that were different. It must not know which differences are worth trying.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_QUESTION_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_QUESTION_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

#define QUESTION_UNLIMITED UINT64_MAX

struct question {
    const struct model_source *source;
    struct model_request request;
    const struct model *model; /* made from these two */
    struct settings settings;  /* how it is run */
    uint64_t limit_bytes;      /* that the framework may hold; QUESTION_UNLIMITED */
};

#define VARIANT_SET_BYTES 128

/* The question with some of it changed. */
struct variant {
    struct settings settings;
    unsigned edits; /* enum model_edit */
    struct tuning tuning;
    char set[VARIANT_SET_BYTES]; /* dimensions, as in --set; "": as asked */
};

struct variant variant_of(const struct question *question);
/* Changes one more dimension. */
void variant_set(struct variant *variant, const char *name, uint64_t value);
/* 1: *peak is what it needs; 0: the model cannot be run so; -1: *err. */
int variant_peak(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);
/* The same, and whether that is within the limit. */
int variant_fits(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err);

#endif
