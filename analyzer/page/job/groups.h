/* SPDX-License-Identifier: MIT */
/*
 * What stands before the pages of several traces: the ranks of the job in groups of those that are alike, who
 * stands out and with what, and cards that processes shared. It must not know any one page.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_GROUPS_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_GROUPS_H

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* Of more different ranks, the other pages are left out. */
enum { JOB_PAGES_MOST = 8 };

/* The members of "job", which is open: groups, cards, peaks. shown: how many pages follow; failed: the trace whose
 * failure the job opens with, -1: none. */
int page_job_add(struct doc *doc, const struct job *job, int shown, int failed, struct err *err);

/* Which traces have a page, those without memory last; room for as many as there are traces. */
int page_job_choose(const struct job *job, bool takes_all, int *shown);

#endif
