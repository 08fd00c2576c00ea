/* SPDX-License-Identifier: MIT */
/*
 * Results as pieces of a document. Machines get every figure under the keys of the manual's JSON;
 * people get what fits a page. Each function is called with the object open that it adds to. They
 * must not decide what is true: that is the analyses' part.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DOCS_H
#define GPUMEMTRACE_ANALYZER_PAGE_DOCS_H

#include "analyzer/analysis/study.h"
#include "analyzer/render/doc.h"

/* --- the envelope of all commands: trace, devices --- */

typedef int docs_part(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err);
typedef int docs_device_part(struct doc *doc, const struct study *study,
                             const struct device_use *use, const struct view *view,
                             struct err *err);

struct answer {
    const char *schema;
    docs_part *head;          /* what people read first; may be NULL */
    docs_device_part *device; /* inside each device; may be NULL */
    docs_part *tail;          /* after the devices; may be NULL */
};

/*
 * Loads the traces one after the other and adds their answers, for a format that reads such nodes.
 * *doc is the caller's to free.
 */
int docs_build(struct doc **doc, enum doc_level reads, const struct answer *answer,
               const struct view *view, const char *const *paths, int count, struct err *err);

/* --- parts --- */

/* "driver" and the other accounts, "mempools", "pools": counters of the whole run. */
docs_device_part docs_counters;
/* "fragmentation" of the leading (or asked) layer at view->at, or its peak. */
docs_device_part docs_fragmentation;
/* The same for people in one sentence, of the leading layer at its peak. */
docs_device_part docs_fragmentation_line;
/* "segments" of the leading (or asked) pool at view->at, or its peak, with the blocks in them. */
docs_device_part docs_segments;
/* "phases" of every layer; the second leaves people the few that allocated most. */
docs_device_part docs_phases, docs_main_phases;
/* "sites_at_peak" of every layer, each at its own peak. */
docs_device_part docs_sites_at_peak;
/* "oom": every failed allocation with its verdict; report shows people the last one only. */
docs_part docs_oom, docs_last_oom;
/* "leaks": live at exit and growth per step, of one device; of all, as a list. */
docs_device_part docs_leaks;
docs_part docs_all_leaks;
/* "growing" alone, of the leading layer, if anything grows. */
docs_device_part docs_growth;
/* "warnings". */
docs_part docs_warnings;

/* A list of sites of several stocks, each at its own moment (HISTORY_NONE: skipped). */
struct site_list {
    const char *key, *heading;
    const uint32_t *stocks, *indices;
    size_t count;
    int frames; /* as docs_frames has lines */
};
int docs_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct site_list *list, struct err *err);

/*
 * "site" and "frames" of one stack. People see the site and below it at most `lines` of its
 * callers, or the whole stack.
 */
#define DOCS_WHOLE_STACK 0
int docs_frames(struct doc *doc, const struct study *study, const struct view *view,
                uint32_t stack_id, int lines, struct err *err);

/* "layer" and "pool" of a stock, for people as one column. */
void docs_layer(struct doc *doc, const struct study *study, const struct view *view,
                const struct stock *stock);

/* "pytorch pool", "driver": how a sentence names a layer. buffer holds DOCS_NAME_BYTES. */
#define DOCS_NAME_BYTES 96
const char *docs_layer_name(const struct study *study, const struct stock *stock, char *buffer);

#endif
