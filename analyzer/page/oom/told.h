/* SPDX-License-Identifier: MIT */
/* The functions that the files of the page of `oom` share with each other and with other pages. */
#pragma once

#include "analyzer/analysis/sites.h"
#include "analyzer/analysis/study.h"
#include "analyzer/blame/blame.h"
#include "analyzer/page/opening.h"
#include "analyzer/oom/beyond.h"
#include "analyzer/oom/oom.h"
#include "analyzer/util/text.h"

/* Numbers of rows of sites: for each failure, and for the last failure in a summary. */
enum { OOM_SITES = 10, OOM_SUMMARY_SITES = 5, OOM_SITE_FRAME_LINES = 3 };

/* Writes the reason of a failure, without a capital or a full stop: "1.00 GiB lay idle in …". */
int page_oom_explain(struct text *out, const struct study *study, const struct oom *oom,
                     struct err *err);

/* Adds where memory lay idle that the failed call could not take: "BEFORE 2.50 GiB lay idle in …".
 */
void page_oom_add_idle(struct text *out, const char *before, const struct oom *oom);
/* Says how the program can give this memory back, if it would have been enough. */
int page_oom_say_idle(struct opening *opening, const struct oom *oom);

/* The holder is the line that set a limit of the context that took memory. The remedy is another
 * limit, of the context or of the framework. */
int page_oom_say_limit_holder(struct opening *opening, const struct study *study,
                              const struct oom *oom, struct err *err);
int page_oom_say_limit_remedy(struct opening *opening, const struct oom *oom);

/* Adds the line that holds most: "BEFORE train.py:8 init (11.00 GiB)". Returns 1 if it added a
 * line, 0 if no line is known, and -1 on an error. */
int page_oom_add_most(struct text *out, const char *before, const struct study *study,
                      const struct oom *oom, enum oom_beyond which, struct err *err);
/* Adds the tables of both kinds of memory that no tensor shows. They are for one failure. If
 * is_last is set, they are for the last failure and below its table. */
int page_oom_add_beyond(struct doc *doc, const struct study *study, const struct view *view,
                        const struct oom *oom, bool is_last, struct err *err);

/* True if the failure is of a device and layer that the view asks for. */
bool page_oom_shows(const struct study *study, const struct view *view,
                    const struct failure *failure);

/*
 * The failed calls, and the sites that were live at the failure that the page describes. The two
 * are labelled together, so that a helper that is on all their stacks labels none of them.
 */
struct oom_told {
    struct sites sites; /* sites that were live at the failure */
    struct blame blame; /* labels of the sites and of the failed calls */
};

int page_oom_tell(struct oom_told *told, const struct study *study, const struct oom *oom,
                  struct err *err);
void page_oom_told_release(struct oom_told *told);
/* Returns the label of the failed call. */
const struct blamed *page_oom_asker(const struct oom_told *told, const struct failure *failure);

/* Says what the requests before the failure show: that they grow, that a smaller batch was tried,
 * that this one has a wrong shape, or that an object is made while the one before is held. If
 * nothing has told the cause, also says that this one is many times as large as those before. */
int page_oom_say_before(struct opening *opening, const struct study *study,
                        const struct failure *failure);
/* True if the requests before the failure tell its cause, or if losses wait for one backward. */
bool page_oom_tells_cause(const struct study *study, const struct failure *failure);
/* Says how to measure the whole need, if the failure left the model's own memory incomplete and
 * nothing was said that would help. */
int page_oom_say_model(struct opening *opening, const struct study *study, const struct oom *oom);
/* Says who held the memory: "11.20 GiB live tensors, most by train.py:61 encode (6.20 GiB)". */
int page_oom_say_who(struct opening *opening, const struct study *study, const struct oom *oom,
                     const struct oom_told *told, struct err *err);

/* Adds the clause "4.00 GiB is kept by losses (list of 200), filled at train.py:28", if a walk
 * found a variable that kept much of what was live. Says "another 4.00 GiB" if another variable
 * keeps the memory of `named_stack_id`, which the sentence before has named (0: none). */
int page_oom_say_holder(struct opening *opening, const struct study *study, const struct oom *oom,
                        uint32_t named_stack_id, struct err *err);
/* Says the best remedies. If the largest holder keeps what is no longer needed, begins with the
 * change that makes it let go. */
int page_oom_say_remedies(struct opening *opening, const struct study *study, const struct oom *oom,
                          struct err *err);
/* Adds the holders at the failure to its row. If is_last is set, adds the largest ones to a
 * summary, below the table of failures. */
int page_oom_add_holders(struct doc *doc, const struct study *study, const struct oom *oom,
                         bool is_last, struct err *err);

/* Returns the failure that the answer is about, or NULL if none is shown. */
const struct failure *page_oom_chosen(const struct study *study, const struct view *view);

/* Suggests `fix` with the program's command, if the program died of the failure and the command is
 * known. */
void page_oom_offer(struct opening *opening, const struct study *study,
                    const struct failure *failure);
