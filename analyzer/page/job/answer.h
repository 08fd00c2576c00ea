/* SPDX-License-Identifier: MIT */
/*
 * The opening of a job's page: the rank that failed, the rank that stands out, the peaks of all
 * other ranks, and the command to run next.
 */
#pragma once

#include "analyzer/job/job.h"
#include "analyzer/page/opening.h"

/*
 * Returns the trace whose failure the job opens with. A fatal failure comes before an undecided
 * one, and otherwise the earliest by the clock comes first. Returns -1 if no trace failed.
 * failures[i] is the failure that the page of trace i opened with.
 */
int page_job_failed(const struct job *job, const struct opening_failure *failures);
/* Adds "answer" and "next" of the job. */
int page_job_answer(struct doc *doc, struct job *job, const struct opening_failure *failures,
                    struct err *err);
