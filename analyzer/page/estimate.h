/* SPDX-License-Identifier: MIT */
/* The page of `estimate`, and its parts for the page of `compare`. It must not compute. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_ESTIMATE_H
#define GPUMEMTRACE_ANALYZER_PAGE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/estimate/answer/answer.h"
#include "analyzer/estimate/series/run_series.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/serve/serving.h"
#include "analyzer/estimate/weights/weights.h"
#include "analyzer/render/doc.h"

#define ESTIMATE_CONTEXT_UNKNOWN UINT64_MAX

struct estimate_view {
    uint64_t context_bytes;        /* of a CUDA context, or ESTIMATE_CONTEXT_UNKNOWN */
    bool all_layers;               /* a summary has the table of layers however long */
    bool tensors;                  /* parameters and buffers one by one */
    bool what_if;                  /* what each technique saves */
    const struct serving *serving; /* NULL: no cache is asked about */
    const struct weights *weights; /* of files that were read as well; NULL: none */
    const struct answer *answer;
    const struct run_series *series;
};

/* For a format that reads such nodes. NULL: out of memory; other failures are told by doc_check. */
struct doc *page_estimate(enum doc_level reads, const struct estimate *estimate,
                          const struct estimate_view *view);

/* "model" and "settings". */
void page_estimate_model(struct doc *doc, const struct estimate *estimate);
/* "layers". */
void page_estimate_layers(struct doc *doc, const struct estimate *estimate);
/* "assumptions". */
void page_estimate_assumptions(struct doc *doc, const struct estimate *estimate,
                               const struct estimate_view *view);

#endif
