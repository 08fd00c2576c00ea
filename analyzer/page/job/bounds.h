/* SPDX-License-Identifier: MIT */
/*
 * Computes bounds from two dry runs of one program (--events). In the first run all events are
 * reached at once, in the second as late as possible. The driver's peak of the first run is a lower
 * bound. The peak of the second run holds if the card lags behind the host.
 */
#pragma once

#include "analyzer/job/job.h"
#include "analyzer/render/doc.h"

/* Adds "bounds" to the job: a row for each device that both runs had. */
void bounds_add(struct doc *doc, const struct job *job);
