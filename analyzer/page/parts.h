/* SPDX-License-Identifier: MIT */
/*
 * Parts that pages share. Each adds to the object that is open; a mark that is set (doc_detail)
 * goes to the first node it adds. It must not hold anything that one page alone needs.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_PARTS_H
#define GPUMEMTRACE_ANALYZER_PAGE_PARTS_H

#include "analyzer/blame/blame.h"
#include "analyzer/analysis/sites.h"
#include "page.h"

/* The highest live bytes of each device's leading layer: when, and in which phase. */
page_answer page_peak_answer;
page_answer page_frag_answer;
/* Of a dry run without limit: the card that it needs; 0: it was none. */
page_answer page_needs_answer;

/* The worst leak of all devices, if one deserves a headline; page_leaks_verdict also says why not. */
page_answer page_leaks_answer, page_leaks_verdict;
/* Of the failure that matters most; 0: none failed. */
page_answer page_oom_answer;
/* Of a run that failed on a full card though no allocation did; 0: it did not. */
page_answer page_full_card_answer;
/* Why the step that a failure ended needed more than others do; 0: it is not known to. */
int page_step_of_failure(struct opening *opening, const struct study *study,
                         const struct view *view, const struct failure *failure, struct err *err);

/* A time since the start; null where the trace does not know times. */
void page_time(struct doc *doc, const struct study *study, const char *key, const char *label,
               uint64_t time_ns);

/* "warnings". */
page_part page_warnings;
/* "driver" and the other accounts, "mempools", "pools": counters of the whole run. */
page_device_part page_counters;
/* "fragmentation" of the leading (or asked) layer at view->at, or its peak. */
page_device_part page_fragmentation;
/* The same as a sentence, of the leading layer at its peak. */
page_device_part page_fragmentation_note;
/* "pinned_by" and "streams" of the leading (or asked) pool at view->at, or its peak. */
page_device_part page_pins;
/* "segments" of the leading (or asked) pool at view->at, or its peak, with the blocks in them. */
page_device_part page_segments;
/* "phases" of every layer; a summary has all of the first, or the few that allocated most. */
page_device_part page_all_phases, page_main_phases;
/* "sites_at_peak" of every layer, each at its own peak. */
page_device_part page_sites_at_peak;
/* "oom": every failed allocation with its verdict; a summary has all of them, or the last one. */
page_part page_all_failures, page_last_failure;
/* "totals", "growing" and "live_at_exit" of one device; and "leaks", a list of that of all. */
page_device_part page_leaks_of_device;
page_part page_leaks_of_all;
/* What grows in the leading layer, if anything does: for a summary only. */
page_device_part page_growth;

/* What tells the steps where nothing marks them: "step_site", the line whose allocation begins each (0:
 * null), "step_phase", the name of a phase that repeats (NULL: null). */
int page_step_begin(struct doc *doc, const struct study *study, const char *phase,
                    uint32_t stack_id, struct err *err);

/* "ledger": the moments of all devices; and what nvidia-smi shows of one, for a summary only. */
page_part page_ledgers;
page_device_part page_ledger_note;
/* "host_memory": what the process and its cgroup used; and a device's pinned memory, by site. */
page_part page_host_memory;
page_device_part page_pinned_memory;
/* A warning of a process that left no end: what its last sample says of why. NULL: nothing. */
#define PAGE_HOST_END_BYTES 320
const char *page_host_end(const struct study *study, char out[PAGE_HOST_END_BYTES]);

/* "series": memory over time and its snapshots, for a reader who draws them, and what it takes to have them. */
page_part page_series;
void page_series_ask(struct study_ask *ask, const struct view *view, const struct doc *doc);

/* "remedies": what would have helped, what it would have gained, what that supposes; and of an
 * answer, the sentence that names the first two. */
page_part page_remedies;
page_answer page_remedies_best;
/* The same list of some of them, by what is to change: ways is a set of 1 << REMEDY_BY_…. */
int page_remedies_by(struct doc *doc, const struct study *study, unsigned ways, const char *key,
                     const char *heading, struct err *err);
int page_remedies_say(struct opening *opening, const struct study *study, unsigned ways,
                      const char *lead, struct err *err);

/* How many rows of a list of sites a summary has, unless --top says it. */
enum { PAGE_SITES = 10 };

/* The accounts a list speaks of, the leading one first. The others are details. */
struct page_accounts {
    uint32_t numbers[STUDY_ACCOUNTS_MAX];
    struct moment moments[STUDY_ACCOUNTS_MAX];
    size_t count;
};
void page_accounts_find(struct page_accounts *accounts, const struct doc *doc,
                        const struct study *study, const struct device_use *use,
                        const struct view *view);

/* How many of the largest sites of each account a page has that is no list of sites, unless --top says it. */
enum { PAGE_SITES_MOST = 200 };

/* How a list of sites of several accounts is shown. */
struct page_site_list {
    const char *key, *heading;
    size_t summary_rows;
    int frame_lines; /* as page_frames has them */
    /* Of a page that has not all of them: the key of the list of what it leaves out, and the command that
     * has it. NULL: the page has all. */
    const char *left_out_key, *command;
};
int page_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct page_accounts *accounts, const struct page_site_list *list,
               struct err *err);
/* What was live in one account, and who is to blame. */
struct page_held {
    uint32_t account;
    bool is_leading; /* a summary has no other */
    const struct sites *sites;
    const struct blame *blame;
};
/* Rows of the list, which is open. */
int page_sites_of(struct doc *doc, const struct study *study, const struct view *view,
                  const struct page_site_list *list, const struct page_held *held, struct err *err);
/* The list of one account, whose sites the caller has. */
int page_sites_found(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t account, const struct sites *sites, const struct page_site_list *list,
                     struct err *err);

/*
 * "site", "called" and "frames" of one stack of a set whose labels are known; in a summary the label and
 * below it at most so many lines of its callers, or the whole stack, and how many other stacks it
 * stands for.
 */
#define PAGE_WHOLE_STACK 0
int page_frames_of(struct doc *doc, const struct study *study, const struct view *view,
                   const struct blamed *blamed, size_t others, int lines, struct err *err);
/* The same of a stack that stands alone. */
int page_frames(struct doc *doc, const struct study *study, const struct view *view,
                uint32_t stack_id, int lines, struct err *err);

/* "layer" and "pool" of an account; in a summary one field, under this label. */
void page_layer(struct doc *doc, const struct study *study, const struct account *account,
                const char *label);

/* How people read the phase of what happened outside any. */
#define PAGE_OUTSIDE "(outside any)"

/* "device", null where it is unknown. */
void page_device_number(struct doc *doc, const char *label, int device);

/* What the trace says of a card; NULL: nothing. */
const struct trace_device *page_card(const struct study *study, int device);

/* "pytorch pool", "driver": how a sentence names a layer. buffer holds PAGE_LAYER_BYTES. */
#define PAGE_LAYER_BYTES 96
const char *page_layer_name(const struct study *study, const struct account *account, char *buffer);

#endif
