/* SPDX-License-Identifier: MIT */
/*
 * What a job opens with: the rank that failed, the one that stands out, what the others peak at, and the command
 * to run next. It must not know any one page.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_ANSWER_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_ANSWER_H

#include "analyzer/job/job.h"
#include "analyzer/page/opening.h"

/* The trace whose failure the job opens with: what ended a program before what may have, then the first by the
 * clock; -1: none failed. failures: what the page of each trace opened with, by number. */
int page_job_failed(const struct job *job, const struct opening_failure *failures);
/* "answer" and "next" of the job. */
int page_job_answer(struct doc *doc, const struct job *job, const struct opening_failure *failures,
                    struct err *err);

#endif
