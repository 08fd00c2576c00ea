/* SPDX-License-Identifier: MIT */
/*
 * Two dry runs of one program (--events): one reaches events at once, one as late as possible. The
 * driver's peak of the first is a lower bound; that of the second holds if the card lags behind the
 * host.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_BOUNDS_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_BOUNDS_H

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* Adds "bounds" to the job: a row for each device that both runs had. */
void bounds_add(struct doc *doc, const struct job *job);

#endif
