/* SPDX-License-Identifier: MIT */
/*
 * The opening of a job's page: the rank that failed, the one that stands out, the peaks of the
 * others, and the command to run next.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_ANSWER_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_ANSWER_H

#include "analyzer/job/job.h"
#include "analyzer/page/opening.h"

/*
 * The trace whose failure the job opens with: a fatal failure before an undecided one, then the
 * earliest by the clock; -1: none failed. failures: by trace, the failure that its page opened
 * with.
 */
int page_job_failed(const struct job *job, const struct opening_failure *failures);
/* Adds "answer" and "next" of the job. */
int page_job_answer(struct doc *doc, const struct job *job, const struct opening_failure *failures,
                    struct err *err);

#endif
