/* SPDX-License-Identifier: MIT */
/*
 * A page is the document in which a command answers. It describes all figures of its analyses, once
 * for all readers, and marks the figures that a summary leaves out (see doc.h). A page computes
 * none of the figures.
 *
 *     command → page_build → page_NAME → analysis (figures)      (of several traces, job/ builds)
 *                    └→ struct doc → render
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/render/doc.h"
#include "opening.h"

typedef int page_part(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err);
/* Gives a trace the results of its twin (job_twin), instead of a page of its own. The twin's page
 * was already added. Returns 0 or -1. */
typedef int page_twin_part(const struct view *view, const char *path, const char *twin,
                           struct err *err);
typedef int page_device_part(struct doc *doc, const struct study *study,
                             const struct device_use *use, const struct view *view,
                             struct err *err);

/* The parts that one command adds to the trace and its devices. */
struct page {
    const char *schema;
    unsigned needs; /* analyses of the study: STUDY_NEEDS_… */
    bool advises;   /* the study finds remedies */
    /* Adds needs that depend on the options and the reader. It may be NULL. */
    void (*ask)(struct study_ask *ask, const struct view *view, const struct doc *doc);
    page_answer *answer;      /* opens the page; may be NULL */
    page_device_part *device; /* added inside each device; may be NULL */
    bool writes_names;        /* its tail writes names of native frames into the trace */
    bool takes_each;          /* in a job, each of several alike ranks has its own page */
    /* called for a trace that has a twin; NULL: such traces have their own pages */
    page_twin_part *twin;
    page_part *tail; /* added after the devices; may be NULL */
};

extern const struct page page_report;
extern const struct page page_peak;
extern const struct page page_timeline;
extern const struct page page_frag;
extern const struct page page_phases;
extern const struct page page_leaks;
extern const struct page page_steps;
extern const struct page page_oom;
extern const struct page page_ledger;
extern const struct page page_fit;
extern const struct page page_fix;
extern const struct page page_info;

/* view->own points to the options that only this command has, where it has any. */
struct page_peak_options {
    int by;       /* enum groups_by; 0: by site */
    bool tree;    /* show the call tree instead of groups */
    bool moments; /* show the highest separate moments instead of groups */
};
struct page_timeline_options {
    struct timeline_ask ask; /* cut_count is 0 for as many cuts as the reader can show */
    int by;                  /* enum breakdown_by */
};
enum leaks_by { LEAKS_BY_HOLDER = 1 };
struct page_leaks_options {
    int by; /* enum leaks_by; 0: by site */
    bool churn;
    bool fail;
    bool *found; /* set if any of the traces leaks */
};
struct page_fix_options {
    const struct fix *fix; /* a finished search; see analyzer/fix/fix.h */
    bool is_kept;          /* the traces are kept */
    int stopped_by;        /* the signal that stopped the search; 0: none */
};
struct page_frag_options {
    long samples;
    bool segments;
    const char *what_if; /* NULL: the user did not ask for it */
    struct whatif_ask ask;
};

/* Loads a trace and describes it for a format that reads nodes of this level. The caller frees
 * *doc. */
int page_build(struct doc **doc, enum doc_level reads, const struct page *page,
               const struct view *view, const char *path, struct err *err);

/* Adds one of several traces to an open object, like page_build. If the page opens with a failure,
 * fills *failure, unless `failure` is NULL. */
int page_add_trace(struct doc *doc, const struct page *page, const struct view *view,
                   const struct study *study, struct opening_failure *failure, struct err *err);

/* Fills in all that the page needs of each trace. */
struct reading_ask;
void page_ask(struct reading_ask *ask, const struct page *page, const struct view *view,
              const struct doc *doc);
