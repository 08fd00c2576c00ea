/* SPDX-License-Identifier: MIT */
/*
 * Describes files of weights. If nothing describes their model, this is the page of `estimate`. If
 * something does, it is a part of that page.
 */
#pragma once

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"
#include "analyzer/estimate/model/stored.h"
#include "analyzer/render/doc.h"

/* Returns a document for a format that reads nodes of this level. The caller frees it. Returns NULL
 * if there is no memory; doc_check reports other failures. */
struct doc *page_weights(enum doc_level reads, const struct model_source *source,
                         const struct footprint *load, bool tensors);
/* Adds "requested_bytes", "allocated_bytes" and "reserved_bytes". */
void page_footprint(struct doc *doc, const struct footprint *footprint);
/* Adds "weights" and "differences". */
void page_estimate_weights(struct doc *doc, const struct weights *weights,
                           const struct stored *stored);
