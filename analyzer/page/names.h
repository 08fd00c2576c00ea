/* SPDX-License-Identifier: MIT */
/* The page of `resolve`: how many places in native code have a name. */
#pragma once

#include "opening.h"
#include "page.h"
#include "analyzer/symbol/all_names.h"

/* Says how many places have a name, and how many are in a file that cannot be read. */
int page_names_say(struct opening *opening, const struct study *study,
                   const struct all_names *names);
/* Adds "names" and "modules". */
void page_names(struct doc *doc, const struct study *study, const struct all_names *names);
