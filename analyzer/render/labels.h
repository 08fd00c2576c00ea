/* SPDX-License-Identifier: MIT */
/*
 * What people read in place of a document's keys, for a page that is drawn from its JSON. It must not know the page.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_LABELS_H
#define GPUMEMTRACE_ANALYZER_RENDER_LABELS_H

#include "doc.h"

/*
 * A JSON object on one line: {"sites_at_peak.bytes":"Bytes","devices.sites_at_peak":"Who held it at the peak"}, by
 * the key of what holds the node, which of a row is its list's, and its own. What is not always called the same has
 * none, nor has what pictures are drawn from.
 */
int labels_write(const struct doc *doc, FILE *out, struct err *err);

#endif
