/* SPDX-License-Identifier: MIT */
/*
 * The page of several traces: the job comes first, followed by one page for each set of ranks that
 * are alike.
 *
 *     traces ──► job (analyzer/job/) ──► answer, groups, cards
 *                      └─ traces to show ──► page_add_trace, one after the other
 */
#pragma once

#include "analyzer/job/job.h"
#include "analyzer/page/page.h"

/* Like page_build. If ask->takes_all is set, each trace has a page. */
int page_build_job(struct doc **doc, enum doc_level reads, const struct page *page,
                   const struct view *view, const char *const *paths, int count,
                   const struct job_ask *ask, struct err *err);
