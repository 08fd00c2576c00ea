/* SPDX-License-Identifier: MIT */
/*
 * Pages: what a command's answer says, as a document. A page describes everything that an analysis
 * found, once for all readers, and marks what a summary leaves out (see doc.h). It must not compute
 * what is true, which is the analyses' part, nor know who reads it.
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
/* Takes the answer to a trace from that to its twin (job_twin), whose page was added. 0 or -1. */
typedef int page_twin_part(const struct view *view, const char *path, const char *twin,
                           struct err *err);
typedef int page_device_part(struct doc *doc, const struct study *study,
                             const struct device_use *use, const struct view *view,
                             struct err *err);

/* What one command says beside the trace and its devices. */
struct page {
    const char *schema;
    unsigned needs; /* of the study: STUDY_NEEDS_… */
    bool advises;   /* of the study: remedies */
    /* Adds what depends on options and reader; may be NULL. */
    void (*ask)(struct study_ask *ask, const struct view *view, const struct doc *doc);
    page_answer *answer;      /* what the page opens with; may be NULL */
    page_device_part *device; /* inside each device; may be NULL */
    bool writes_names;        /* its tail writes names of native frames into the trace */
    bool takes_each;          /* of several traces, those of alike ranks as well */
    page_twin_part *twin;     /* in place of a page; NULL: twins have pages of their own */
    page_part *tail;          /* after the devices; may be NULL */
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
    int by;       /* enum groups_by; 0: rows of sites */
    bool tree;    /* the tree of calls in place of them */
    bool moments; /* the highest separate moments in place of them */
};
struct page_timeline_options {
    struct timeline_ask ask; /* cut_count 0: as many as suit the reader */
    int by;                  /* enum breakdown_by */
};
struct page_leaks_options {
    bool churn;
    bool fail;
    bool *found; /* a leak, in any of the traces */
};
struct page_fit_options {
    struct fit *fit; /* analyzer/whatif/fit.h; filled for each trace */
};
struct page_fix_options {
    const struct fix *fix; /* analyzer/fix/fix.h: it is over */
    bool is_kept;          /* the traces stay */
    int stopped_by;        /* a signal; 0: none */
};
struct page_frag_options {
    long samples;
    bool segments;
    const char *what_if; /* NULL: not asked for */
    struct whatif_ask ask;
};

/* Loads a trace and describes it, for a format that reads such nodes. *doc is the caller's to free. */
int page_build(struct doc **doc, enum doc_level reads, const struct page *page,
               const struct view *view, const char *path, struct err *err);

/* The traces that a command was given, and which of them it speaks of. */
struct page_traces {
    const char *const *paths;
    int count, own;
    struct opening_failure *failure; /* filled where the page opens with one; NULL: nobody asks */
};
/* The same of one of several, into an open object. */
int page_add_trace(struct doc *doc, const struct page *page, const struct view *view,
                   const struct page_traces *traces, struct err *err);

#endif
