/* SPDX-License-Identifier: MIT */
/* Files of weights: the page of `estimate` where nothing describes their model, and their part where something does. It must not
 * compute. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_WEIGHTS_PAGE_WEIGHTS_H
#define GPUMEMTRACE_ANALYZER_PAGE_WEIGHTS_PAGE_WEIGHTS_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"
#include "analyzer/estimate/model/stored.h"
#include "analyzer/render/doc.h"

/* For a format that reads such nodes. NULL: out of memory; other failures are told by doc_check. */
struct doc *page_weights(enum doc_level reads, const struct model_source *source,
                         const struct footprint *load, bool tensors);
/* "weights" and "differences". */
void page_estimate_weights(struct doc *doc, const struct weights *weights,
                           const struct stored *stored);

#endif
