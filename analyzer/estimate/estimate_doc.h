/* SPDX-License-Identifier: MIT */
/*
 * An estimate as a document, gpumemtrace.estimate/1. It must not compute and not print.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ESTIMATE_DOC_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ESTIMATE_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate.h"
#include "analyzer/render/doc.h"

#define ESTIMATE_CONTEXT_UNKNOWN UINT64_MAX
/* Longer tables of layers are shown to people only when asked for. */
#define ESTIMATE_LAYERS_SHOWN 60

struct estimate_view {
    uint64_t context_bytes; /* of a CUDA context, or ESTIMATE_CONTEXT_UNKNOWN */
    bool all_layers;
};

/* NULL: out of memory; other failures are told by doc_check. */
struct doc *estimate_doc(const struct estimate *estimate, const struct estimate_view *view,
                         enum doc_level reads);

/* For other documents that hold an estimate: the model, the settings, its layers (which people
 * see or not), what was assumed. */
void estimate_doc_model(struct doc *doc, const struct estimate *estimate);
void estimate_doc_layers(struct doc *doc, const struct estimate *estimate, bool people);
void estimate_doc_assumptions(struct doc *doc, const struct estimate *estimate,
                              const struct estimate_view *view);

#endif
