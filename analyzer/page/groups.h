/* SPDX-License-Identifier: MIT */
/* Parts of the page of `peak`: live memory at a moment, in other groups than sites. */
#pragma once

#include "analyzer/analysis/site_tables/groups.h"
#include "parts.h"

/* Adds rows to the list "groups" or "tree", which is open. Each row names its layer. */
int page_groups(struct doc *doc, const struct study *study, const struct view *view,
                const struct page_held *held, enum groups_by by, struct err *err);
int page_call_tree(struct doc *doc, const struct study *study, const struct view *view,
                   const struct page_held *held, struct err *err);
/* Adds the list "high_moments" of each account, with the line that held most at each moment. */
int page_local_peaks(struct doc *doc, const struct study *study, const struct view *view,
                     const struct page_accounts *accounts, struct err *err);
