/* SPDX-License-Identifier: MIT */
/*
 * The figures of a job that come before its traces' pages: groups of alike ranks, the group that
 * stands out and what it holds more, and cards that processes shared.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_GROUPS_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_GROUPS_H

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* If more traces than these differ, only these have a page. */
enum { JOB_PAGES_MOST = 8 };

/* Adds the groups, cards and peaks to the open object "job". shown: how many pages follow; failed:
 * the trace whose failure the job opens with, -1: none. */
int page_job_add(struct doc *doc, const struct job *job, int shown, int failed, struct err *err);

/* Chooses the traces that have a page, those without memory last. shown has room for all traces.
 * Returns how many. */
int page_job_choose(const struct job *job, bool takes_all, int *shown);

#endif
