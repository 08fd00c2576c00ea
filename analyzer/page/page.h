/* SPDX-License-Identifier: MIT */
/*
 * Pages: the document that a command's answer is. A page describes all figures of its analyses,
 * once for all readers, and marks what a summary leaves out (see doc.h). It computes none of them.
 *
 *     command → page_build → page_NAME → analysis (figures)      (of several traces, job/ builds)
 *                    └→ struct doc → render
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_PAGE_H
#define GPUMEMTRACE_ANALYZER_PAGE_PAGE_H

#include "analyzer/analysis/study.h"
#include "analyzer/render/doc.h"
#include "opening.h"

typedef int page_part(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err);
/* Gives a trace the results of its twin (job_twin), whose page was added, in place of a page. 0 or
 * -1. */
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
    /* Adds needs that depend on options and reader; may be NULL. */
    void (*ask)(struct study_ask *ask, const struct view *view, const struct doc *doc);
    page_answer *answer;      /* opens the page; may be NULL */
    page_device_part *device; /* added inside each device; may be NULL */
    bool writes_names;        /* its tail writes names of native frames into the trace */
    bool takes_each;          /* in a job, alike ranks have pages of their own, too */
    page_twin_part *twin;     /* called for a twin; NULL: twins have pages of their own */
    page_part *tail;          /* added after the devices; may be NULL */
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
    bool tree;    /* the call tree instead */
    bool moments; /* the highest separate moments instead */
};
struct page_timeline_options {
    struct timeline_ask ask; /* cut_count 0: as many as the reader can show */
    int by;                  /* enum breakdown_by */
};
struct page_leaks_options {
    bool churn;
    bool fail;
    bool *found; /* set if any of the traces leaks */
};
struct page_fix_options {
    const struct fix *fix; /* finished; analyzer/fix/fix.h */
    bool is_kept;          /* the traces are kept */
    int stopped_by;        /* the signal; 0: none */
};
struct page_frag_options {
    long samples;
    bool segments;
    const char *what_if; /* NULL: not asked for */
    struct whatif_ask ask;
};

/* Loads a trace and describes it for a format that reads nodes of this level. The caller frees
 * *doc. */
int page_build(struct doc **doc, enum doc_level reads, const struct page *page,
               const struct view *view, const char *path, struct err *err);

/* Like page_build, for one of several traces, into an open object. Fills *failure if the page opens
 * with one; it may be NULL. */
int page_add_trace(struct doc *doc, const struct page *page, const struct view *view,
                   const struct study *study, struct opening_failure *failure, struct err *err);

/* Fills in all that the page asks for of each trace. */
struct reading_ask;
void page_ask(struct reading_ask *ask, const struct page *page, const struct view *view,
              const struct doc *doc);

#endif
