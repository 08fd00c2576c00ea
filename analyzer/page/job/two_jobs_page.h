/* SPDX-License-Identifier: MIT */
/*
 * The page of two jobs. It says which ranks changed and by how much, and shows the `diff` of the
 * pair that changed most.
 */
#pragma once

#include "analyzer/job/trace_files.h"
#include "analyzer/page/diff/diff.h"

/* Like page_build. `before` and `after` hold the traces of one job each. If shows_all is set, each
 * pair of traces has a page. */
int page_build_two_jobs(struct doc **doc, enum doc_level reads, const struct view *view,
                        const struct trace_files *before, const struct trace_files *after,
                        bool shows_all, struct err *err);
