/* SPDX-License-Identifier: MIT */
/*
 * Files of weights: the page of `estimate` if nothing describes their model, and a part of that
 * page if something does.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_WEIGHTS_PAGE_WEIGHTS_H
#define GPUMEMTRACE_ANALYZER_PAGE_WEIGHTS_PAGE_WEIGHTS_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"
#include "analyzer/estimate/model/stored.h"
#include "analyzer/render/doc.h"

/* A document for a format that reads nodes of this level. The caller frees it. NULL: out of memory;
 * doc_check reports other failures. */
struct doc *page_weights(enum doc_level reads, const struct model_source *source,
                         const struct footprint *load, bool tensors);
/* Adds "weights" and "differences". */
void page_estimate_weights(struct doc *doc, const struct weights *weights,
                           const struct stored *stored);

#endif
