/* SPDX-License-Identifier: MIT */
/* The page of `leaks`, and its parts: memory that was never freed, and memory that grows with every
 * step. */
#include "analyzer/page/parts.h"

#include <stdlib.h>

#include "analyzer/analysis/leaks.h"
#include "analyzer/analysis/steps/cache_names.h"
#include "analyzer/page/holders/kept_by.h"
#include "analyzer/util/array.h"

enum { LEAK_FRAME_LINES = 5 };

static void add_total(struct doc *doc, const struct study *study, const struct account *account)
{
    const bool known = history_knows(&study->history, account);
    page_layer(doc, study, account, "Layer");
    doc_known_bytes(doc, "live_at_exit_bytes", "Left at exit", known, account->live_bytes);
    doc_known_count(doc, "blocks", "Blocks", known && !study_lacks(study, LACK_blocks),
                    account->allocations_count - account->frees_count -
                        account->implicit_frees_count - account->lost_frees_count);
}

/* A summary shows the leading account, and memory that is not the card's. */
static bool is_in_summary(const struct study *study, const struct page_accounts *accounts, size_t i)
{
    return !i || !account_is_of_layer(&study->history.accounts[accounts->numbers[i]]);
}

static void find_accounts(struct page_accounts *accounts, const struct doc *doc,
                          const struct study *study, const struct device_use *use,
                          const struct view *view)
{
    struct page_accounts all;
    all.count = study_leak_accounts(study, use, view, all.numbers, STUDY_ACCOUNTS_MAX);
    accounts->count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (doc_takes(doc, DOC_DETAIL) || is_in_summary(study, &all, i))
            accounts->numbers[accounts->count++] = all.numbers[i];
}

static void add_totals(struct doc *doc, const struct study *study,
                       const struct page_accounts *accounts)
{
    doc_list_begin(doc, "totals", "Never freed");
    for (size_t i = 0; i < accounts->count; i++) {
        doc_row_begin(doc_detail_if(doc, !is_in_summary(study, accounts, i)));
        add_total(doc, study, &study->history.accounts[accounts->numbers[i]]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- growth of an account as a whole --- */

/* Rounds a slope to whole bytes. */
static int64_t whole(double bytes)
{
    return bytes < 0 ? -(int64_t)(0.5 - bytes) : (int64_t)(bytes + 0.5);
}

static void add_line(struct doc *doc, const struct growth_line *line)
{
    static const char *const keys[] = {"bytes_per_step", "bytes_per_step_low",
                                       "bytes_per_step_high"};
    static const char *const labels[] = {"Per step", "At least", "At most"};
    const double values[] = {line->slope, line->low, line->high};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (line->has_slope)
            doc_integer(i ? doc_detail(doc) : doc, keys[i], labels[i], DOC_DELTA, whole(values[i]));
        else
            doc_null(i ? doc_detail(doc) : doc, keys[i], labels[i], DOC_DELTA);
}

int page_step_begin(struct doc *doc, const struct study *study, const char *phase, uint64_t site_id,
                    struct err *err)
{
    char label[BLAME_TEXT_BYTES];
    if (site_id && blame_alone(label, study->symbols, site_id, err) < 0)
        return -1;
    doc_text(doc_detail(doc), "step_site", "A step begins at", site_id ? label : NULL);
    doc_text(doc_detail(doc), "step_phase", "Each step is a", phase);
    return 0;
}

static int add_verdict(struct doc *doc, const struct study *study, const struct account *account,
                       const struct account_leak *found, struct err *err)
{
    const struct growth *growth = &found->growth;
    const bool knows = growth->total.has_slope;
    page_layer(doc, study, account, "Layer");
    doc_text(doc, "verdict", "Verdict", leak_verdict_name(found->leak.verdict));
    doc_known_count(doc, "steps", "Steps", growth->ends < STEP_ENDS, growth->ends_count);
    doc_text(doc, "steps_end_with", "Steps end with", step_end_text(growth->ends));
    if (page_step_begin(doc, study, growth->period->phase.name, growth->period->site_id, err))
        return -1;
    add_line(doc, &growth->total);
    doc_known_bytes(doc_detail(doc), "leak_bytes_per_step", "Leak", knows,
                    found->leak.verdict == LEAK_FOUND ? (uint64_t)whole(found->leak.slope) : 0);
    doc_known_bytes(doc_detail(doc), "enlarged_bytes_per_step", "Larger blocks", knows,
                    (uint64_t)whole(found->leak.enlarged_slope));
    doc_known_bytes(doc_detail(doc), "cache_bytes_per_step", "Known caches", knows,
                    (uint64_t)whole(found->leak.cache_slope));
    doc_known_bytes(doc_detail(doc), "floor_bytes_per_step", "Floor",
                    history_knows(&study->history, account), (uint64_t)found->leak.floor);
    doc_known_count(doc_detail(doc), "steps_until_full", "Steps until full",
                    found->knows_steps_left, (uint64_t)found->steps_left);
    return 0;
}

/* --- memory that grows: call stacks for programs, lines for people --- */

static int add_growing_site(struct doc *doc, const struct study *study, const struct view *view,
                            const struct account *account, const struct account_leak *found,
                            const struct growing *site, const struct held_sums *held,
                            struct err *err)
{
    const char *cache;
    if (cache_name_find(&cache, study->symbols, site_stack(site->site_id), err))
        return -1;
    page_layer(doc, study, account, "Layer");
    doc_bytes(doc, "bytes_per_step", "Per step", (uint64_t)whole(site->line.slope));
    doc_integer(doc, "bytes_per_step_low", "At least", DOC_DELTA, whole(site->line.low));
    doc_integer(doc, "bytes_per_step_high", "At most", DOC_DELTA, whole(site->line.high));
    doc_bytes(doc, "first_bytes", "After 2nd step", site->first_bytes);
    doc_bytes(doc, "last_bytes", "After last", site->last_bytes);
    doc_count(doc, "steps", "Steps", found->growth.ends_count);
    doc_count(doc, "rises", "Rises", site->rises->count);
    doc_bool(doc, "enlarged", "Made larger", site->enlarged_count);
    doc_count(doc, "collapses", "Freed at once", site->is_saw ? site->sweeps->at.count : 0);
    doc_text(doc, "known_cache", "Known cache", cache);
    page_kept_by(doc, study, held, site_stack(site->site_id));
    return page_frames_of(doc, study, view, blame_of(&found->blame, site->site_id), 0,
                          PAGE_WHOLE_STACK, err);
}

static const char *growing_text(const struct leak_row *row)
{
    return row->cache         ? row->cache
           : row->is_enlarged ? "larger blocks replace those before"
           : row->is_saw      ? "more blocks, freed at once now and then"
                              : "more blocks";
}

static int add_growing_row(struct doc *doc, const struct study *study, const struct view *view,
                           const struct account *account, const struct account_leak *found,
                           const struct leak_row *row, const struct held_sums *held,
                           struct err *err)
{
    page_layer(doc, study, account, "Layer");
    doc_bytes(doc, NULL, "Per step", (uint64_t)whole(row->slope));
    doc_bytes(doc, NULL, "After 2nd step", row->first_bytes);
    doc_bytes(doc, NULL, "After last", row->last_bytes);
    doc_count(doc, NULL, "Steps", found->growth.ends_count);
    doc_text(doc, NULL, "What grows", growing_text(row));
    if (page_frames_of(doc, study, view, row->blamed, row->stack_count - 1, LEAK_FRAME_LINES, err))
        return -1;
    page_kept_by(doc, study, held, site_stack(row->first->site_id));
    return 0;
}

static int add_churning_site(struct doc *doc, const struct study *study, const struct view *view,
                             const struct account *account, const struct account_leak *found,
                             const struct churning *site, struct err *err)
{
    const double steps = (double)found->growth.counted_steps;
    page_layer(doc, study, account, "Layer");
    doc_bytes(doc, "bytes_per_step", "Per step", (uint64_t)whole((double)site->bytes / steps));
    doc_bytes(doc, "bytes", "In all", site->bytes);
    doc_count(doc, "count", "Blocks", site->count);
    doc_count(doc, "steps", "Steps", found->growth.counted_steps);
    return page_frames_of(doc, study, view, blame_of(&found->blame, site->site_id), 0,
                          PAGE_WHOLE_STACK, err);
}

static int add_churning_row(struct doc *doc, const struct study *study, const struct view *view,
                            const struct account *account, const struct account_leak *found,
                            const struct leak_row *row, struct err *err)
{
    const double steps = (double)found->growth.counted_steps;
    page_layer(doc, study, account, "Layer");
    doc_bytes(doc, NULL, "Per step", (uint64_t)whole((double)row->churn_bytes / steps));
    doc_bytes(doc, NULL, "In all", row->churn_bytes);
    doc_count(doc, NULL, "Blocks", row->churn_count);
    return page_frames_of(doc, study, view, row->blamed, row->stack_count - 1, LEAK_FRAME_LINES,
                          err);
}

/* --- lists of all accounts --- */

/* The leaks of the accounts that a device's page shows. */
struct leaks_of {
    struct page_accounts accounts;
    struct account_leak *items;
    struct held_sums held[STUDY_ACCOUNTS_MAX]; /* by stack, at the last walk */
};

static void leaks_release(struct leaks_of *leaks)
{
    for (size_t i = 0; leaks->items && i < leaks->accounts.count; i++)
        account_leak_release(&leaks->items[i]);
    for (size_t i = 0; i < leaks->accounts.count; i++)
        held_sums_release(&leaks->held[i]);
    free(leaks->items);
}

/* Asks what was held at the last walk. A program that ends has dropped much of it. */
static struct held_ask ask_held(const struct study *study, uint32_t account)
{
    return (struct held_ask){
        .account = account, .index = study->history.last.index, .is_of_walk = true};
}

static int leaks_find(struct leaks_of *leaks, const struct study *study,
                      const struct page_accounts *accounts, struct err *err)
{
    *leaks = (struct leaks_of){.accounts = *accounts};
    leaks->items = array_new(accounts->count, sizeof *leaks->items, err);
    for (size_t i = 0; leaks->items && i < accounts->count; i++) {
        struct held_ask ask = ask_held(study, accounts->numbers[i]);

        ask.by_stack = true;
        if (account_leak_find(&leaks->items[i], study, accounts->numbers[i], err) ||
            held_sums_find(&leaks->held[i], &study->holders, &study->history, &ask, err)) {
            leaks_release(leaks);
            return -1;
        }
    }
    return leaks->items ? 0 : -1;
}

static int add_verdicts(struct doc *doc, const struct study *study, const struct leaks_of *leaks,
                        struct err *err)
{
    int status = 0;
    doc_list_begin(doc, "growth", "Growth of live bytes from step to step");
    for (size_t i = 0; i < leaks->accounts.count && !status; i++) {
        doc_row_begin(doc_detail_if(doc, !is_in_summary(study, &leaks->accounts, i)));
        status = add_verdict(doc, study, &study->history.accounts[leaks->accounts.numbers[i]],
                             &leaks->items[i], err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

static int add_growing_rows(struct doc *doc, const struct study *study, const struct view *view,
                            const struct leaks_of *leaks, struct err *err)
{
    const size_t most = view->top ? (size_t)view->top : PAGE_SITES;
    int status = 0;
    for (size_t n = 0; n < leaks->accounts.count; n++) {
        const struct account_leak *found = &leaks->items[n];
        const struct account *account = &study->history.accounts[leaks->accounts.numbers[n]];
        if (!is_in_summary(study, &leaks->accounts, n))
            continue;
        for (size_t i = 0; i < found->growing.count && i < most && !status; i++) {
            doc_row_begin(doc_summary(doc));
            status = add_growing_row(doc, study, view, account, found, &found->growing.items[i],
                                     &leaks->held[n], err);
            doc_row_end(doc);
        }
    }
    return status;
}

static int add_growing(struct doc *doc, const struct study *study, const struct view *view,
                       const struct leaks_of *leaks, struct err *err)
{
    int status = 0;
    doc_list_begin(doc, "growing", "Growing with every step");
    if (leaks->accounts.count && doc_takes(doc, DOC_SUMMARY))
        status = add_growing_rows(doc, study, view, leaks, err);
    for (size_t i = 0; i < leaks->accounts.count && doc_takes(doc, DOC_DETAIL); i++) {
        const struct account_leak *found = &leaks->items[i];
        const size_t limit = view_limit(view, found->growth.count);

        for (size_t n = 0; n < limit && !status; n++) {
            doc_row_begin(doc_detail(doc));
            status = add_growing_site(doc, study, view,
                                      &study->history.accounts[leaks->accounts.numbers[i]], found,
                                      &found->growth.items[n], &leaks->held[i], err);
            doc_row_end(doc);
        }
    }
    doc_list_end(doc);
    return status;
}

static int add_churn_rows(struct doc *doc, const struct study *study, const struct view *view,
                          const struct leaks_of *leaks, struct err *err)
{
    const struct account_leak *found = &leaks->items[0];
    const struct account *account = &study->history.accounts[leaks->accounts.numbers[0]];
    const size_t most = view->top ? (size_t)view->top : PAGE_SITES;
    int status = 0;
    for (size_t i = 0; i < found->churn.count && i < most && !status; i++) {
        doc_row_begin(doc_summary(doc));
        status = add_churning_row(doc, study, view, account, found, &found->churn.items[i], err);
        doc_row_end(doc);
    }
    return status;
}

/* Adds the churn. Details always have it; a summary has it only if the user asked for it. */
static int add_churn(struct doc *doc, const struct study *study, const struct view *view,
                     const struct leaks_of *leaks, bool is_asked, struct err *err)
{
    int status = 0;
    doc_list_begin(doc, "churn", "Allocated and freed again in every step");
    if (is_asked && leaks->accounts.count && doc_takes(doc, DOC_SUMMARY))
        status = add_churn_rows(doc, study, view, leaks, err);
    for (size_t i = 0; i < leaks->accounts.count && doc_takes(doc, DOC_DETAIL); i++) {
        const struct account_leak *found = &leaks->items[i];
        const size_t limit = view_limit(view, found->growth.churn_count);

        for (size_t n = 0; n < limit && !status; n++) {
            doc_row_begin(doc_detail(doc));
            status = add_churning_site(doc, study, view,
                                       &study->history.accounts[leaks->accounts.numbers[i]], found,
                                       &found->growth.churn[n], err);
            doc_row_end(doc);
        }
    }
    doc_list_end(doc);
    return status;
}

/* Adds the holders. Details always have them; a summary only if the user asked for them. */
static int add_holders(struct doc *doc, const struct study *study, const struct view *view,
                       const struct page_accounts *accounts, bool is_asked, struct err *err)
{
    const size_t most = view->top ? (size_t)view->top : PAGE_SITES;
    const struct page_holder_list list = {.key = "holders",
                                          .heading = "Holders at the last walk",
                                          .summary_rows = is_asked ? most : 0};
    struct held_ask asks[STUDY_ACCOUNTS_MAX];
    if (is_asked && !page_has_holders(study))
        doc_note(doc, "The trace has no walk over Python's objects, which finds the holders: dry "
                      "runs make walks, other recordings with --holders.");
    for (size_t i = 0; i < accounts->count; i++)
        asks[i] = ask_held(study, accounts->numbers[i]);
    return page_holders(doc, study, &list, asks, accounts->count, err);
}

/* Adds the parts. `own` has the options of the page of `leaks`. If it is NULL, this is another
 * page, which lists only the largest sites. */
static int add_parts(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, const struct page_leaks_options *own, struct err *err)
{
    const struct page_site_list list = {.key = "live_at_exit",
                                        .heading = "Live at exit",
                                        .summary_rows = PAGE_SITES,
                                        .frame_lines = LEAK_FRAME_LINES,
                                        .left_out_key = own ? NULL : "live_at_exit_left_out",
                                        .command = "gpumemtrace leaks"};
    struct page_accounts accounts;
    struct leaks_of leaks;
    find_accounts(&accounts, doc, study, use, view);
    for (size_t i = 0; i < accounts.count; i++)
        accounts.moments[i] = study->history.last;
    if (leaks_find(&leaks, study, &accounts, err))
        return -1;
    add_totals(doc, study, &accounts);
    const int status =
        add_verdicts(doc, study, &leaks, err) || add_growing(doc, study, view, &leaks, err) ||
                add_holders(doc, study, view, &accounts, own && own->by == LEAKS_BY_HOLDER, err) ||
                page_sites(doc, study, view, &accounts, &list, err) ||
                (own && add_churn(doc, study, view, &leaks, own->churn, err))
            ? -1
            : 0;
    leaks_release(&leaks);
    return status;
}

int page_leaks_of_device(struct doc *doc, const struct study *study, const struct device_use *use,
                         const struct view *view, struct err *err)
{
    return add_parts(doc, study, use, view, NULL, err);
}

int page_leaks_of_all(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;
    doc_list_begin(doc, "leaks", "Leaks");
    for (size_t i = 0; i < history->device_count && doc_takes(doc, DOC_BOTH); i++) {
        const struct device_use *use = &history->devices[i];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        page_device_number(doc, "Device", use->device);
        if (page_leaks_of_device(doc, study, use, view, err))
            return -1;
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

int page_growth(struct doc *doc, const struct study *study, const struct device_use *use,
                const struct view *view, struct err *err)
{
    struct page_accounts accounts;
    struct leaks_of leaks;
    find_accounts(&accounts, doc, study, use, view);
    if (!accounts.count || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    if (leaks_find(&leaks, study, &accounts, err))
        return -1;
    doc_list_begin(doc_summary(doc), NULL, "Growing with every step");
    const int status = add_growing_rows(doc, study, view, &leaks, err);
    doc_list_end(doc);
    leaks_release(&leaks);
    return status;
}

static int add_leaks(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    doc_object_begin(doc, "leaks", NULL);
    const int status = add_parts(doc, study, use, view, view->own, err);
    doc_object_end(doc);
    return status;
}

const struct page page_leaks = {.schema = "gpumemtrace.leaks/1",
                                .needs = STUDY_NEEDS_growth | STUDY_NEEDS_holders,
                                .answer = page_leaks_verdict,
                                .device = add_leaks,
                                .tail = page_warnings};
