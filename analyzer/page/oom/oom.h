/* SPDX-License-Identifier: MIT */
/* What the files of the page of `oom` share. It must not know other pages. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_OOM_H
#define GPUMEMTRACE_ANALYZER_PAGE_OOM_H

#include "analyzer/analysis/sites.h"
#include "analyzer/analysis/study.h"
#include "analyzer/blame/blame.h"
#include "analyzer/page/opening.h"
#include "analyzer/oom/beyond.h"
#include "analyzer/oom/oom.h"
#include "analyzer/util/text.h"

/* How many of those who held memory are shown: of each failure, and of the last one. */
enum { OOM_SITES = 10, OOM_SUMMARY_SITES = 5, OOM_SITE_FRAME_LINES = 3 };

/* Why, without a capital or a full stop: "1.00 GiB lay idle in …". */
int page_oom_explain(struct text *out, const struct study *study, const struct oom *oom,
                     struct err *err);

/* "BEFORE train.py:8 init (11.00 GiB)", of the line that holds most. Returns 1, 0: no line is known, or -1. */
int page_oom_add_most(struct text *out, const char *before, const struct study *study,
                      const struct oom *oom, enum oom_beyond which, struct err *err);
/* The tables of both: of one failure, or below all of them of the last. */
int page_oom_add_beyond(struct doc *doc, const struct study *study, const struct view *view,
                        const struct oom *oom, bool is_last, struct err *err);

/* Whether the view asks for it, by device and layer. */
bool page_oom_shows(const struct study *study, const struct view *view,
                    const struct failure *failure);

/* Who asked for what failed, and who held the rest when the one that is spoken of did: told apart from
 * each other, so that a helper that all go through labels none of them. */
struct oom_told {
    struct sites sites; /* what was live */
    struct blame blame; /* of the sites and of the calls that failed */
};

int page_oom_tell(struct oom_told *told, const struct study *study, const struct oom *oom,
                  struct err *err);
void page_oom_told_release(struct oom_told *told);
/* The label of the call that failed. */
const struct blamed *page_oom_asker(const struct oom_told *told, const struct failure *failure);

/* The failure that the answer speaks of; NULL: none is shown. */
const struct failure *page_oom_chosen(const struct study *study, const struct view *view);

/* Where the program died of it and its command is known: `fix` of that command comes next. */
void page_oom_offer(struct opening *opening, const struct study *study,
                    const struct failure *failure);

#endif
