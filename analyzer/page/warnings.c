/* SPDX-License-Identifier: MIT */
/* Warnings that a reader must see before believing the figures. */
#include "parts.h"

/* Adds the warnings. A summary's heading already says what a dry run cannot know; see build.c. */
int page_warnings(struct doc *doc, const struct study *study, const struct view *view,
                  struct err *err)
{
    const char *dry_run = study_dry_run(study);
    char end[PAGE_HOST_END_BYTES];
    const char *host_end = page_host_end(study, end);
    struct text_list warnings;
    (void)view;
    if (study_warnings(study, &warnings, err))
        return -1;
    doc_list_begin(doc, "warnings", "Warnings");
    for (size_t i = 0; i < warnings.count; i++)
        doc_text(doc, "warning", "", warnings.items[i]);
    if (host_end)
        doc_text(doc, "warning", "", host_end);
    if (dry_run)
        doc_text(doc_detail(doc), "warning", "", dry_run);
    doc_list_end(doc);
    text_list_release(&warnings);
    return 0;
}
