/* SPDX-License-Identifier: MIT */
/* What `resolve` says: how many places in native code have which name. It must not find names. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_NAMES_H
#define GPUMEMTRACE_ANALYZER_PAGE_NAMES_H

#include "opening.h"
#include "page.h"
#include "analyzer/symbol/all_names.h"

/* The answer: how many places have a name, and of how many the file is not to be had. */
int page_names_say(struct opening *opening, const struct study *study,
                   const struct all_names *names);
/* "names" and "modules". */
void page_names(struct doc *doc, const struct study *study, const struct all_names *names);

#endif
