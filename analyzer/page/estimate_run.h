/* SPDX-License-Identifier: MIT */
/* Parts of the page of `estimate`: the training step that has the peak, the layers that hold memory
 * at the peak, and the run as a series. */
#pragma once

#include "analyzer/estimate/series/run_series.h"
#include "analyzer/render/doc.h"

/* Adds "step": the moments of that step, in order. */
void page_estimate_step(struct doc *doc, const struct estimate *estimate,
                        const struct run_series *series);
/* Adds "layers_at_peak": bytes at the peak, by layer. */
void page_estimate_sites(struct doc *doc, const struct estimate *estimate,
                         const struct run_series *series);
/* Adds "series" in the form that a trace's series has; see doc/formats.md. */
void page_estimate_series(struct doc *doc, const struct estimate *estimate,
                          const struct run_series *series);
