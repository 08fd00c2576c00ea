/* SPDX-License-Identifier: MIT */
/*
 * The figures of a job that come before the pages of its traces: groups of alike ranks, the group
 * that stands out and how much more it holds, and cards that processes shared.
 */
#pragma once

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* If more traces than these differ, only this many have a page. */
enum { JOB_PAGES_MOST = 8 };

/* Adds the groups, cards and peaks to the open object "job". `shown` is the number of pages that
 * follow. `failed` is the trace whose failure the job opens with; -1: none. */
int page_job_add(struct doc *doc, const struct job *job, int shown, int failed, struct err *err);

/* Chooses the traces that have a page, and puts those without memory last. `shown` has room for all
 * traces. Returns how many it chose. */
int page_job_choose(const struct job *job, bool takes_all, int *shown);
