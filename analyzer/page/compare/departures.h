/* SPDX-License-Identifier: MIT */
/* Names the reasons why a run's peak differs from the estimated one, in a sentence and in a
 * table. */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/estimate/compare/compare.h"
#include "analyzer/page/page.h"

/* Receives the line that the sentence names. `told` is the caller's own pointer. Returns 0, or
 * -1. */
typedef int departure_told(void *told, const struct blamed *line, struct err *err);

/* Says the largest departure, with the line of the program that holds most of it. `tell` may be
 * NULL. Returns 1, or -1 on an error. */
int page_departure_say(struct opening *opening, const struct study *study, uint32_t account,
                       const struct comparison *comparison, const struct estimate *estimate,
                       departure_told *tell, void *told, struct err *err);
/* Says that the run seems to have another model, if it does. Returns 1, or -1 on an error. */
int page_another_say(struct opening *opening, const struct study *study, uint32_t account,
                     const struct comparison *comparison, const struct estimate *estimate,
                     struct err *err);
/* Adds "departures". */
void page_departures(struct doc *doc, const struct comparison *comparison);
