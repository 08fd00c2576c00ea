/* SPDX-License-Identifier: MIT */
/* The page of several traces; see job_page.h. */
#include "job_page.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "bounds.h"
#include "groups.h"

static int add_job(struct doc *doc, const struct job *job, int shown, struct err *err)
{
    doc_object_begin(doc, "job", "Job");
    const int status = page_job_add(doc, job, shown, err);
    bounds_add(doc, job);
    doc_object_end(doc);
    return status;
}

static int add_traces(struct doc *doc, const struct page *page, const struct view *view,
                      const struct page_traces *traces, const int *shown, int shown_count,
                      struct err *err)
{
    int status = 0;

    doc_list_begin(doc, "traces", NULL);
    for (int i = 0; i < shown_count && !status; i++) {
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "schema", "schema", page->schema);
        status = page_add_trace(doc, page, view,
                                &(struct page_traces){traces->paths, traces->count, shown[i]}, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

static int add_all(struct doc *doc, const struct job *job, const struct page *page,
                   const struct view *view, const struct page_traces *traces, bool takes_all,
                   struct err *err)
{
    int *shown = array_new((size_t)job->count, sizeof *shown, err);

    if (!shown)
        return -1;
    const int count = page_job_choose(job, takes_all, shown);
    /* What takes each trace, as check, has an answer to each: the job comes last. */
    int status = page->takes_each ? 0 : page_job_answer(doc, job, err);
    if (!status && !page->takes_each)
        status = add_job(doc, job, count, err);
    if (!status)
        status = add_traces(doc, page, view, traces, shown, count, err);
    if (!status && page->takes_each)
        status = add_job(doc, job, count, err);
    free(shown);
    return status;
}

int page_build_job(struct doc **doc, enum doc_level reads, const struct page *page,
                   const struct view *view, const char *const *paths, int count, bool takes_all,
                   struct err *err)
{
    struct doc *built = doc_new("gpumemtrace.reports/1", reads);
    struct job job;

    if (!built) {
        err_set(err, ERR_SYSTEM, "out of memory for the result");
        return -1;
    }
    int status = job_read(&job, paths, count, takes_all, err);
    if (!status) {
        status = add_all(built, &job, page, view, &(struct page_traces){paths, count, 0}, takes_all,
                         err);
        job_release(&job);
    }
    if (status) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
