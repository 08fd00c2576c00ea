/* SPDX-License-Identifier: MIT */
/* Why a run's peak is not the estimated one, by name: a sentence and a table. It must not compute sums. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_COMPARE_DEPARTURES_H
#define GPUMEMTRACE_ANALYZER_PAGE_COMPARE_DEPARTURES_H

#include "analyzer/blame/blame.h"
#include "analyzer/estimate/compare/compare.h"
#include "analyzer/page/page.h"

/* Who gets to know the line that the sentence names; told: what the caller gave. */
typedef int departure_told(void *told, const struct blamed *line, struct err *err);

/* The largest departure, with the line of the program that holds most of it. tell may be NULL. 1, or -1. */
int page_departure_say(struct opening *opening, const struct study *study, uint32_t account,
                       const struct comparison *comparison, const struct estimate *estimate,
                       departure_told *tell, void *told, struct err *err);
/* "departures" */
void page_departures(struct doc *doc, const struct comparison *comparison);

#endif
