/* SPDX-License-Identifier: MIT */
/* The page of `estimate`, and the parts of it that the page of `compare` shares. */
#pragma once

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
    uint64_t context_bytes;        /* bytes of a CUDA context, or ESTIMATE_CONTEXT_UNKNOWN */
    bool all_layers;               /* a summary lists all layers, no matter how many */
    bool tensors;                  /* list parameters and buffers one by one */
    bool what_if;                  /* list what each technique saves */
    const struct serving *serving; /* NULL: the user did not ask for a KV cache */
    const struct weights *weights; /* read from files; NULL: none */
    const struct answer *answer;
    const struct run_series *series;
};

/* Returns a document for a format that reads nodes of this level. The caller frees it. Returns NULL
 * if there is no memory; doc_check reports other failures. */
struct doc *page_estimate(enum doc_level reads, const struct estimate *estimate,
                          const struct estimate_view *view);

/* Returns the model's name for a sentence. */
const char *page_model_name(const struct estimate *estimate);
/* Adds "model" and "settings". */
void page_estimate_model(struct doc *doc, const struct estimate *estimate);
/* Adds "layers". */
void page_estimate_layers(struct doc *doc, const struct estimate *estimate);
/* Adds "assumptions". */
void page_estimate_assumptions(struct doc *doc, const struct estimate *estimate,
                               const struct estimate_view *view);
