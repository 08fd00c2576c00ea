/* SPDX-License-Identifier: MIT */
/* Parts of the page of `estimate`: the step that holds the peak, who holds it, and the run as a series. It must not
 * compute. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_ESTIMATE_RUN_H
#define GPUMEMTRACE_ANALYZER_PAGE_ESTIMATE_RUN_H

#include "analyzer/estimate/series/run_series.h"
#include "analyzer/render/doc.h"

/* "step": its moments in order. */
void page_estimate_step(struct doc *doc, const struct estimate *estimate,
                        const struct run_series *series);
/* "holders_at_peak": by layer. */
void page_estimate_sites(struct doc *doc, const struct estimate *estimate,
                         const struct run_series *series);
/* "series", as a trace's; doc/formats.md. */
void page_estimate_series(struct doc *doc, const struct estimate *estimate,
                          const struct run_series *series);

#endif
