/* SPDX-License-Identifier: MIT */
/*
 * Parts that several pages share. Each part adds to the open object. A mark that is set before it
 * (doc_detail) applies to the first node that it adds.
 */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/analysis/holders/held_sums.h"
#include "analyzer/analysis/sites.h"
#include "page.h"

/* Says the highest live bytes of each device's leading layer, and when and in which phase they were
 * live. */
page_answer page_peak_answer;
/*
 * Writes "Most of it by train.py:88 forward (3.20 GiB)", or "The largest part" in place of "Most of
 * it". If this line is not the program's, also names the program's largest line: ", then
 * train.py:88 forward (1.10 GiB)". Writes "" if no line is known.
 */
int page_format_most(char *text, size_t size, const struct study *study, const struct sites *sites,
                     const struct blame *blame, struct err *err);
page_answer page_frag_answer;
/* Says that a pool reserved much more than it ever handed out at once, and why. Returns 0 for a
 * pool that did not. */
page_answer page_excess_answer;
/* Says which card the run needs, for `--dry-run=any`. Returns 0 for any other run. */
page_answer page_needs_answer;

/* Says the worst leak of all devices, if it deserves a headline. page_leaks_verdict also says why
 * there is no leak. */
page_answer page_leaks_answer, page_leaks_verdict;
/* Says growth that is too small, or too unsure, for a headline, as a reason below the peak. */
page_answer page_leaks_below_peak;
/* Describes the failure that matters most. Returns 0 if no allocation failed. */
page_answer page_oom_answer;
/* Says that the run failed because the card was full, though no allocation failed. Returns 0 for
 * any other run. */
page_answer page_full_card_answer;
/* Says the leak of an account that held at least half of the live bytes when an allocation failed.
 * Returns 0 if there is none. */
int page_leak_of_failure(struct opening *opening, const struct study *study,
                         const struct view *view, uint32_t account, uint64_t live_bytes,
                         struct err *err);
/* Says why the training step that a failure ended needed more than other steps. Returns 0 if the
 * reason is not known. */
int page_step_of_failure(struct opening *opening, const struct study *study,
                         const struct view *view, const struct failure *failure, struct err *err);

/* Adds a time since the start. It is null if the trace has no times. */
void page_time(struct doc *doc, const struct study *study, const char *key, const char *label,
               uint64_t time_ns);

/* Adds "warnings". */
page_part page_warnings;
/* Adds "driver" and the other accounts, "mempools" and "pools": counters of the whole run. */
page_device_part page_counters;
/* Adds "fragmentation" of the leading layer, or of the layer that the user asked for. The moment is
 * view->at, or the layer's peak. */
page_device_part page_fragmentation;
/* The fragmentation of the leading layer at its peak, as a sentence. */
page_device_part page_fragmentation_note;
/* Adds "pinned_by" and "streams" of the leading pool, or of the pool that the user asked for. The
 * moment is view->at, or the pool's peak. */
page_device_part page_pins;
/* Adds "segments" of the same pool at the same moment, with the blocks in them. */
page_device_part page_segments;
/* Adds "phases" of every layer. A summary has all phases of the first layer, or the few phases that
 * allocated most. */
page_device_part page_all_phases, page_main_phases;
/* Adds "sites_at_peak" of every layer, each at its own peak. */
page_device_part page_sites_at_peak;
/* Adds "oom": every failed allocation with its verdict. A summary has all failures, or only the
 * last one. */
page_part page_all_failures, page_last_failure;
/* A list of holders: the variables that keep memory alive (analysis/holders/). A summary has at
 * most `summary_rows` of the first account's. */
struct page_holder_list {
    const char *key, *heading;
    size_t summary_rows;
};
/* Adds the holders of each account, if the trace has walks. asks: one for each account, the leading
 * one first. */
int page_holders(struct doc *doc, const struct study *study, const struct page_holder_list *list,
                 const struct held_ask asks[], size_t count, struct err *err);
/* Says who keeps the memory: "Kept by losses (list of 200), filled at train.py:28: 2.00 GiB of 2.04
 * GiB at the end." of_bytes: all that the sentence is about. Returns 1 or -1. */
int page_say_holder(struct opening *opening, const struct study *study, const struct held_sum *sum,
                    uint64_t of_bytes, const struct walk_blocks *walk);

/* Adds "totals", "growing" and "live_at_exit" of one device, and "leaks", the list of these objects
 * of all devices. */
page_device_part page_leaks_of_device;
page_part page_leaks_of_all;
/* Adds the growth in the leading layer, if there is any. Only a summary has it. */
page_device_part page_growth;

/* Says how the steps were found if the program marks none. Adds "step_site", the line whose
 * allocation begins each step (if the line is 0: null), and "step_phase", the name of a phase that
 * repeats (NULL: null). */
int page_step_begin(struct doc *doc, const struct study *study, const char *phase, uint64_t site_id,
                    struct err *err);

/* Adds "ledger" of all devices at several moments. The second part shows one device as nvidia-smi
 * shows it; only a summary has this part. */
page_part page_ledgers;
page_device_part page_ledger_note;
/* Adds "host_memory" of the process and its cgroup. The second part is a device's pinned host
 * memory, by site. */
page_part page_host_memory;
page_device_part page_pinned_memory;
/* Says how much managed and pinned host memory was live and by which line, if that is much beside
 * the card's peak. Returns 0 if it is not. */
page_answer page_beside_answer;
/* Says why the process may have ended, if the trace has no end: the host's memory at the last look.
 * Returns NULL if there is nothing to say. */
#define PAGE_HOST_END_BYTES 320
const char *page_host_end(const struct study *study, char out[PAGE_HOST_END_BYTES]);

/* Adds "series": memory over time and snapshots, for a reader that draws them. page_series_ask adds
 * the analyses that the series needs. */
page_part page_series;
void page_series_ask(struct study_ask *ask, const struct view *view, const struct doc *doc);

/* Adds "remedies": the changes that would have helped, how much each would have gained, and what
 * this gain assumes. The answer names the two best ones. */
page_part page_remedies;
/* The first of these adds the remedies of some kinds as a list. The second says them in a sentence
 * that begins with `lead`. `ways` is a set of 1 << REMEDY_BY_…. */
int page_remedies_by(struct doc *doc, const struct study *study, unsigned ways, const char *key,
                     const char *heading, struct err *err);
int page_remedies_say(struct opening *opening, const struct study *study, unsigned ways,
                      const char *lead, struct err *err);
/* Says what a checkpoint on the device costs at the account's peak, if that is the moment and the
 * remedies show it. */
int page_say_loaded(struct opening *opening, const struct study *study, uint32_t account,
                    const struct moment *moment, struct err *err);

/* Says as a reason that two sets of parameters of like sizes were live, and that only one of them
 * is trained. blame: must contain the stacks that were live at event `index`. Returns 1, or -1. */
int page_say_second_set(struct opening *opening, const struct study *study, uint32_t account,
                        uint64_t index, const struct blame *blame);

/* Rows of a list of sites in a summary, unless --top is given. */
enum { PAGE_SITES = 10 };

/* The accounts of a list, the leading account first. A summary shows only the leading one. */
struct page_accounts {
    uint32_t numbers[STUDY_ACCOUNTS_MAX];
    struct moment moments[STUDY_ACCOUNTS_MAX];
    size_t count;
};
void page_accounts_find(struct page_accounts *accounts, const struct doc *doc,
                        const struct study *study, const struct device_use *use,
                        const struct view *view);

/* Pages other than `peak` list at most this many sites per account, unless --top is given. */
enum { PAGE_SITES_MOST = 200 };

/* Says how a list of sites of several accounts is shown. */
struct page_site_list {
    const char *key, *heading;
    size_t summary_rows;
    int frame_lines; /* lines of page_frames_of */
    /* If the page does not list all sites: the key of the list that counts the sites left out, and
     * the command that lists them. NULL: the page lists all sites. */
    const char *left_out_key, *command;
};
int page_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct page_accounts *accounts, const struct page_site_list *list,
               struct err *err);
/* The sites that were live in one account, with their labels. */
struct page_held {
    uint32_t account;
    bool is_leading; /* a summary shows only this account */
    const struct sites *sites;
    const struct blame *blame;
    const struct held_sums *kept; /* by stack: what keeps the sites alive; NULL: not shown */
};
/* Adds the rows of one account to the open list. */
int page_sites_of(struct doc *doc, const struct study *study, const struct view *view,
                  const struct page_site_list *list, const struct page_held *held, struct err *err);
/* Adds the list of one account. The caller has found its sites. */
int page_sites_found(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t account, const struct sites *sites, const struct held_sums *kept,
                     const struct page_site_list *list, struct err *err);

/*
 * Adds "site", "called" and "frames" of one stack whose label is known. A summary has the label,
 * and below the label at most `lines` callers (PAGE_WHOLE_STACK: all callers). It also says how
 * many other stacks the row stands for.
 */
#define PAGE_WHOLE_STACK 0
int page_frames_of(struct doc *doc, const struct study *study, const struct view *view,
                   const struct blamed *blamed, size_t others, int lines, struct err *err);

/* Adds "layer" and "pool" of an account. A summary has a single field, with the label `label`. */
void page_layer(struct doc *doc, const struct study *study, const struct account *account,
                const char *label);

/* The phase name that people read for events outside any phase. */
#define PAGE_OUTSIDE "(outside any)"

/* Adds "device", which is null if the device is unknown. */
void page_device_number(struct doc *doc, const char *label, int device);

/* Returns the trace's record of a card, or NULL if the trace has none. */
const struct trace_device *page_card(const struct study *study, int device);

/* Returns the name of a layer for a sentence: "pytorch pool", "driver". `buffer` holds
 * PAGE_LAYER_BYTES. */
#define PAGE_LAYER_BYTES 96
const char *page_layer_name(const struct study *study, const struct account *account, char *buffer);

/* Names as arguments of a sentence; like BYTES_TEXT, they live until the end of the block. */
#define LAYER_TEXT(study, account) page_layer_name(study, account, (char[PAGE_LAYER_BYTES]){""})
#define DEVICE_TEXT(device) study_device_name(device, (char[STUDY_DEVICE_BYTES]){""})
/* " of 16.00 GiB" behind an amount of memory; "" if the size of the card is not known (0). */
#define OF_CARD_TEXT(card_bytes) page_of_card((char[PAGE_CLAUSE_BYTES]){""}, card_bytes)
/* ", 12.3 s after the start"; "" if the trace has no times. */
#define AFTER_START_TEXT(study, ns) page_after_start((char[PAGE_CLAUSE_BYTES]){""}, study, ns)
#define PAGE_CLAUSE_BYTES 64
const char *page_of_card(char out[PAGE_CLAUSE_BYTES], uint64_t card_bytes);
const char *page_after_start(char out[PAGE_CLAUSE_BYTES], const struct study *study,
                             uint64_t time_ns);
