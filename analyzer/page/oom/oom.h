/* SPDX-License-Identifier: MIT */
/* The functions that the files of the page of `oom` share with each other and with other pages. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_OOM_H
#define GPUMEMTRACE_ANALYZER_PAGE_OOM_H

#include "analyzer/analysis/sites.h"
#include "analyzer/analysis/study.h"
#include "analyzer/blame/blame.h"
#include "analyzer/page/opening.h"
#include "analyzer/oom/beyond.h"
#include "analyzer/oom/oom.h"
#include "analyzer/util/text.h"

/* Rows of sites: of each failure, and of the last failure in a summary. */
enum { OOM_SITES = 10, OOM_SUMMARY_SITES = 5, OOM_SITE_FRAME_LINES = 3 };

/* The reason of a failure, without a capital or a full stop: "1.00 GiB lay idle in …". */
int page_oom_explain(struct text *out, const struct study *study, const struct oom *oom,
                     struct err *err);

/* "BEFORE train.py:8 init (11.00 GiB)": the line that holds most. Returns 1; 0: no line is known;
 * or -1. */
int page_oom_add_most(struct text *out, const char *before, const struct study *study,
                      const struct oom *oom, enum oom_beyond which, struct err *err);
/* Adds the tables of both kinds of memory beyond tensors: for one failure, or (is_last) below the
 * table for the last one. */
int page_oom_add_beyond(struct doc *doc, const struct study *study, const struct view *view,
                        const struct oom *oom, bool is_last, struct err *err);

/* True if the view asks for the failure, by device and layer. */
bool page_oom_shows(const struct study *study, const struct view *view,
                    const struct failure *failure);

/*
 * The failed calls, and the sites that were live at the failure in question. They are labelled
 * together, so that a helper that all of them go through labels none of them.
 */
struct oom_told {
    struct sites sites; /* live at the failure */
    struct blame blame; /* of the sites and of the failed calls */
};

int page_oom_tell(struct oom_told *told, const struct study *study, const struct oom *oom,
                  struct err *err);
void page_oom_told_release(struct oom_told *told);
/* The label of the failed call. */
const struct blamed *page_oom_asker(const struct oom_told *told, const struct failure *failure);

/* The failure that the answer is about; NULL: none is shown. */
const struct failure *page_oom_chosen(const struct study *study, const struct view *view);

/* Suggests `fix` of the program's command, if the program died of the failure and its command is
 * known. */
void page_oom_offer(struct opening *opening, const struct study *study,
                    const struct failure *failure);

#endif
