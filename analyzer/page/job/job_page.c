/* SPDX-License-Identifier: MIT */
/* The page of several traces; see job_page.h. */
#include "job_page.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "answer.h"
#include "bounds.h"
#include "groups.h"

static int add_job(struct doc *doc, const struct job *job, int shown, int failed, struct err *err)
{
    doc_object_begin(doc, "job", "Job");
    const int status = page_job_add(doc, job, shown, failed, err);
    bounds_add(doc, job);
    doc_object_end(doc);
    return status;
}

static int add_trace(struct doc *doc, const struct job *job, const struct page *page,
                     const struct view *view, int trace, struct opening_failure *failure,
                     struct err *err)
{
    const struct reading *reading = readings_borrow(job->readings, trace, NULL, err);
    if (!reading)
        return -1;
    doc_row_begin(doc);
    doc_text(doc_detail(doc), "schema", "schema", page->schema);
    const int status = page_add_trace(doc, page, view, &reading->study, failure, err);
    doc_row_end(doc);
    readings_give_back(job->readings, trace);
    return status;
}

/* Adds the chosen traces. *count becomes the number of those with a page of their own. */
static int add_traces(struct doc *doc, const struct job *job, const struct page *page,
                      const struct view *view, const int *shown, int *count,
                      struct opening_failure *failures, struct err *err)
{
    const int shown_count = *count;
    int status = 0;
    doc_list_begin(doc, "traces", NULL);
    for (int i = 0; i < shown_count && !status; i++) {
        const int twin = page->twin ? job_twin(job, shown[i]) : -1;

        if (twin >= 0) {
            status = page->twin(view, job->surveys[shown[i]].path, job->surveys[twin].path, err);
            --*count;
        } else {
            status = add_trace(doc, job, page, view, shown[i], &failures[shown[i]], err);
        }
    }
    doc_list_end(doc);
    return status;
}

/*
 * Adds the job and its traces. The job comes before its traces, but its opening is known only when
 * their pages are built, so the job is moved up afterwards. If a page takes each trace (check),
 * each trace has its own answer. In this case the job stays last, without an answer.
 */
static int add_all(struct doc *doc, struct job *job, const struct page *page,
                   const struct view *view, bool takes_all, struct err *err)
{
    int *shown = array_new((size_t)job->count, sizeof *shown, err);
    struct opening_failure *failures = array_new((size_t)job->count, sizeof *failures, err);
    int status = -1;
    if (!shown || !failures)
        goto out;
    int count = page_job_choose(job, takes_all, shown);
    struct doc_node *const above = doc_last(doc);
    status = add_traces(doc, job, page, view, shown, &count, failures, err);
    struct doc_node *const last = doc_last(doc);
    if (!status && !page->takes_each)
        status = page_job_answer(doc, job, failures, err);
    if (!status)
        status =
            add_job(doc, job, count, page->takes_each ? -1 : page_job_failed(job, failures), err);
    if (!status && !page->takes_each)
        doc_move_up(doc, last, above);
out:
    for (int i = 0; failures && i < job->count; i++)
        opening_failure_release(&failures[i]);
    free(failures);
    free(shown);
    return status;
}

static int read_and_add(struct doc *doc, const struct page *page, const struct view *view,
                        const char *const *paths, int count, const struct job_ask *ask,
                        struct err *err)
{
    struct reading_ask of_each;
    struct readings readings;
    struct job job;
    int status = -1;
    page_ask(&of_each, page, view, doc);
    if (readings_init(&readings, paths, count, &of_each, err))
        return -1;
    if (!job_read(&job, &readings, ask, err)) {
        status = add_all(doc, &job, page, view, ask->takes_all, err);
        job_release(&job);
    }
    readings_release(&readings);
    return status;
}

int page_build_job(struct doc **doc, enum doc_level reads, const struct page *page,
                   const struct view *view, const char *const *paths, int count,
                   const struct job_ask *ask, struct err *err)
{
    struct doc *built = doc_new("gpumemtrace.reports/1", reads);
    if (!built)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    if (read_and_add(built, page, view, paths, count, ask, err)) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
