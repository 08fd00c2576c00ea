/* SPDX-License-Identifier: MIT */
/* Collects the labels that people read in place of a document's keys. The HTML page needs them,
 * because it is drawn from JSON. */
#pragma once

#include "doc.h"

/* Writes a JSON object on one line: {"sites_at_peak.bytes":"Bytes","devices.sites_at_peak":"Largest
 * call stacks at the peak"}. A key is the key of the enclosing object or list (for a row, its
 * list's key), a point, and the node's own key. Keys with several labels, and nodes for charts, are
 * left out. */
int labels_write(const struct doc *doc, FILE *out, struct err *err);
