/* SPDX-License-Identifier: MIT */
/*
 * Two dry runs of one program, with events reached at once and late (--events): what the card had to
 * hold at least, and what if it lags behind the host. It must not know the rest of a job's page.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_BOUNDS_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_BOUNDS_H

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* "bounds" of the job: a row for each device that a run with done and one with late had. */
void bounds_add(struct doc *doc, const struct job *job);

#endif
