/* SPDX-License-Identifier: MIT */
/* The page of `peak`: shows who held the memory at a moment, by category, phase and call stack. */
#include "analyzer/page/parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/fragmentation/segments.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/moments/replaced.h"
#include "analyzer/analysis/site_tables/causes.h"
#include "analyzer/analysis/site_tables/round_parts.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/render/units.h"
#include "analyzer/page/groups.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/page/holders/kept_by.h"
#include "analyzer/page/holders/words.h"

/* --- the answer --- */

/* The phase of the peak. NULL: none, or one that only the order of events tells: memory that the
 * program's own lines make after a step may update weights, unless it is an input. */
static const char *phase_of_peak(const struct study *study, const struct account *account,
                                 const struct causes *causes)
{
    const struct path *path =
        account->peak_path == HISTORY_NONE ? NULL : &study->history.paths[account->peak_path];
    const bool is_guess = path && path->source == PHASE_SOURCE_INFERRED &&
                          category_of_rule(path->rule) == CATEGORY_input &&
                          causes->youngest != CATEGORY_input;
    return is_guess ? NULL : study_path(study, account->peak_path);
}

/* Writes where and when the peak was: "Peak 9.41 GiB of 16.00 GiB on device 0 (pytorch pool), 12.3
 * s after the start in backward". */
static int format_peak(char *text, size_t size, const struct study *study, const struct view *view,
                       uint32_t number, const struct moment *moment, const struct causes *causes,
                       uint64_t bytes)
{
    const struct account *account = &study->history.accounts[number];
    const uint64_t card_bytes = study_card_bytes(study, account->device);
    const bool is_peak = moment->index == account->peak.index;
    const char *path = is_peak ? phase_of_peak(study, account, causes) : NULL;
    return snprintf(text, size, "%s%.64s%s%s%s on %s (%s)%s%s%s", is_peak ? "Peak" : "At ",
                    is_peak ? "" : view->at, is_peak ? " " : ": ", BYTES_TEXT(bytes),
                    OF_CARD_TEXT(card_bytes), DEVICE_TEXT(account->device),
                    LAYER_TEXT(study, account), AFTER_START_TEXT(study, moment->time_ns),
                    path ? " in " : "", path ? path : "");
}

static bool is_worth_saying(uint64_t bytes, const struct sites *sites)
{
    return (double)bytes > PART_RATIO_MIN * (double)sites->total_bytes;
}

static void say_causes(struct opening *opening, const struct causes *causes,
                       const struct sites *sites)
{
    for (int i = 0; i < CAUSE_COUNT; i++)
        if (is_worth_saying(causes->bytes[i], sites))
            page_say(opening, VERDICT_why, "%s of it are %s.", BYTES_TEXT(causes->bytes[i]),
                     cause_text((enum cause)i));
}

static void say_cause_remedies(struct opening *opening, const struct causes *causes,
                               const struct sites *sites)
{
    for (int i = 0; i < CAUSE_COUNT; i++)
        if (is_worth_saying(causes->bytes[i], sites) && cause_remedy((enum cause)i))
            page_say(opening, VERDICT_do, "%s.", cause_remedy((enum cause)i));
}

/* Says how much was made in captures. The lines that made it look like any forward, but the graphs
 * keep its memory. */
static int say_graphs(struct opening *opening, const struct study *study, uint32_t account,
                      const struct moment *moment, uint64_t total_bytes, struct err *err)
{
    struct graph_share share;
    if (study->history.accounts[account].kind != ACCOUNT_pool)
        return 1;
    if (segments_of_graphs(&share, &study->history, account, moment->index, err))
        return -1;
    if (share.live_bytes < total_bytes / OF_GRAPHS_DIVISOR || !share.live_bytes)
        return 1;
    return page_say(opening, VERDICT_why,
                    "%s of it was made while CUDA graphs were captured, and stays in their "
                    "private pool%s until the graphs are reset or destroyed.",
                    BYTES_TEXT(share.live_bytes), share.pools_count > 1 ? "s" : "");
}

/* Says that the old and the new block of a line are live at once. A framework's tensors are left
 * out, because each layer replaces the one before. */
static int say_replaced(struct opening *opening, const struct study *study, uint32_t account,
                        const struct moment *moment, const struct sites *sites,
                        const struct blame *blame)
{
    if (study->history.accounts[account].kind == ACCOUNT_pool)
        return 1;
    const struct replaced replaced = replaced_at(&study->history, account, moment->index, blame);
    if (!replaced.old || !is_worth_saying(replaced.old->size_bytes, sites))
        return 1;
    return page_say(opening, VERDICT_why, "%s makes %s before it frees its old block of %s.",
                    blame_of(blame, replaced.made->site_id)->label,
                    BYTES_TEXT(replaced.made->size_bytes), BYTES_TEXT(replaced.old->size_bytes));
}

/* Writes the category of most of the memory, if it is known: "62.0 % of it activations". */
static void format_category(char *text, size_t size, const struct sites *sites)
{
    uint64_t bytes[CATEGORY_COUNT];
    *text = 0;
    sites_by_category(sites, bytes);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (i != CATEGORY_other && bytes[i] > sites->total_bytes / 2)
            snprintf(text, size, "%s of it %s",
                     RATIO_TEXT((double)bytes[i] / (double)sites->total_bytes),
                     category_key((enum category)i));
}

enum { CLAUSE_BYTES = 1024 };

/* Says who holds all: the largest line, and the category of most of it. */
static int say_holder(struct opening *opening, const struct study *study, const struct sites *sites,
                      const struct blame *blame)
{
    char category[CLAUSE_BYTES], site[CLAUSE_BYTES];
    if (page_format_most(site, sizeof site, study, sites, blame, opening->err))
        return -1;
    format_category(category, sizeof category, sites);
    return *site || *category ? page_say(opening, VERDICT_who, "%s%s%s.", site,
                                         *site && *category ? "; " : "", category)
                              : 1;
}

static const char *const part_words[ROUND_PARTS] = {
    [PART_PASSING] = "comes and goes with each step",
    [PART_ONCE] = "was made once, not in each step",
    [PART_KEPT] = "is kept over several backwards",
    [PART_AFTER] = "was made after the last backward",
    [PART_BETWEEN] = "was made between backwards, not in each step",
    [PART_LEFT] = "was left by the last backward",
    [PART_STAYING] = "stays over the steps"};

static bool is_kept(const void *self, const struct block *block)
{
    return round_part_is_kept(self, block);
}

/* Writes the variable that keeps most of what is kept over several backwards: ", kept by history
 * (list of 12), filled at train.py:13". "": the nearest walk found none. */
static int format_keeper(char *text, size_t size, const struct study *study, uint32_t number,
                         uint64_t index, uint64_t part_bytes, struct err *err)
{
    const struct block_filter filter = {&study->categories, is_kept};
    const struct held_ask ask = {.account = number, .index = index, .filter = &filter};
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES];
    struct held_sums sums;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    const struct held_sum *most = held_sums_most(&sums);
    if (most && held_is_named(&study->trace, most->holder) && most->bytes > part_bytes / 2)
        snprintf(text, size, ", kept by %s%s", holder_name(name, &study->trace, most),
                 holder_place(place, &study->trace, most));
    held_sums_release(&sums);
    return 0;
}

/* Says who holds a part of the memory, unless the part is small: "770.75 MiB of it comes and goes
 * with each step (66.7 % of it activations), most of it by train.py:88 forward (640.00 MiB)". */
static int say_part(struct opening *opening, const struct study *study, uint32_t number,
                    uint64_t index, enum round_part which, const struct sites *part,
                    const struct blame *blame)
{
    char category[CLAUSE_BYTES], site[CLAUSE_BYTES], keeper[2 * HOLDER_TEXT_BYTES + 16] = "";
    if (which == PART_KEPT &&
        format_keeper(keeper, sizeof keeper, study, number, index, part->total_bytes, opening->err))
        return -1;
    if (page_format_most(site, sizeof site, study, part, blame, opening->err))
        return -1;
    format_category(category, sizeof category, part);
    *site = (char)tolower((unsigned char)*site);
    return page_join(opening, VERDICT_who, "%s of it %s%s%s%s%s%s%s", BYTES_TEXT(part->total_bytes),
                     part_words[which], *category ? " (" : "", category, *category ? ")" : "",
                     *site ? ", " : "", site, keeper);
}

/*
 * Says who holds the memory. If much of it is live in several steps, names its parts: first the one
 * that comes and goes, because it makes the peak, and last the one that stays.
 */
static int say_holders(struct opening *opening, const struct study *study, uint32_t number,
                       const struct moment *moment, const struct sites *sites,
                       const struct blame *blame)
{
    struct sites parts[ROUND_PARTS] = {0};
    int status = -1;
    if (round_parts_at(parts, &study->categories, number, moment->index, opening->err))
        goto out;
    if (!is_worth_saying(parts[PART_KEPT].total_bytes, sites) &&
        !is_worth_saying(parts[PART_STAYING].total_bytes, sites)) {
        status = say_holder(opening, study, sites, blame);
        goto out;
    }
    status = 1;
    for (int i = 0; i < ROUND_PARTS && status >= 0; i++)
        if (is_worth_saying(parts[i].total_bytes, sites))
            status = say_part(opening, study, number, moment->index, i, &parts[i], blame);
out:
    for (int i = 0; i < ROUND_PARTS; i++)
        sites_release(&parts[i]);
    return status;
}

static int say_held(struct opening *opening, const struct study *study, const struct view *view,
                    uint32_t number, const struct moment *moment, const struct sites *sites,
                    struct err *err)
{
    char where[CLAUSE_BYTES];
    struct causes causes;
    struct blame blame;
    if (causes_at(&causes, &study->categories, number, moment->index, err))
        return -1;
    format_peak(where, sizeof where, study, view, number, moment, &causes, sites->total_bytes);
    page_say(opening, VERDICT_what, "%s.", where);
    say_causes(opening, &causes, sites);
    if (say_graphs(opening, study, number, moment, sites->total_bytes, err) < 0 ||
        site_rows_blame(&blame, study->symbols, sites, err))
        return -1;
    int status = page_say_second_set(opening, study, number, moment->index, &blame);
    if (status >= 0)
        status = say_replaced(opening, study, number, moment, sites, &blame);
    if (status >= 0)
        status = say_holders(opening, study, number, moment, sites, &blame);
    blame_release(&blame);
    say_cause_remedies(opening, &causes, sites);
    return status < 0 ? -1 : page_say_loaded(opening, study, number, moment, err);
}

static int say_peak(struct opening *opening, const struct study *study, const struct view *view,
                    const struct device_use *use, struct err *err)
{
    const uint32_t number = study_account(study, use, view);
    struct moment moment;
    struct sites sites;
    const char *device = DEVICE_TEXT(use->device);
    if (number == HISTORY_NONE || study->history.accounts[number].peak.index == INDEX_NONE)
        return page_say(opening, VERDICT_what, "No GPU memory was allocated on %s.", device);
    if (moment_find("at", view->at, &study->history, number, &moment, err))
        return -1;
    if (moment.index == INDEX_NONE)
        return page_say(opening, VERDICT_what, "There is no moment %.64s on %s.", view->at, device);
    if (sites_at(&sites, &study->categories, number, moment.index, err))
        return -1;
    const int status = sites.total_bytes
                           ? say_held(opening, study, view, number, &moment, &sites, err)
                           : page_say(opening, VERDICT_what, "At %.64s nothing was live on %s.",
                                      view->at ? view->at : "the peak", device);
    sites_release(&sites);
    return status;
}

/* The highest peak of the device. 0: the device has no memory. */
static uint64_t peak_of(const struct study *study, const struct view *view,
                        const struct device_use *use)
{
    const uint32_t number = study_account(study, use, view);
    return number == HISTORY_NONE ? 0 : study->history.accounts[number].peak_bytes;
}

/* Returns the number of the device with the highest peak; 0 if there is none. The answer begins
 * with this device, because the first lines have room for one. */
static size_t first_device(const struct study *study, const struct view *view)
{
    const struct device_use *devices = study->history.devices;
    size_t first = 0;
    for (size_t i = 1; i < study->history.device_count; i++)
        if (peak_of(study, view, &devices[i]) > peak_of(study, view, &devices[first]))
            first = i;
    return first;
}

int page_peak_answer(struct opening *opening, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct history *history = &study->history;
    const size_t first = history->device_count ? first_device(study, view) : 0;
    bool any = false;
    int status = 0;
    for (size_t i = 0; i < history->device_count && status >= 0; i++) {
        const size_t number = !i ? first : i <= first ? i - 1 : i;
        const struct device_use *use = &history->devices[number];
        if (view->device >= 0 && use->device != view->device)
            continue;
        status = say_peak(opening, study, view, use, err);
        any |= history->accounts[use->leading].peak.index != INDEX_NONE;
    }
    if (any)
        page_next(opening, "peak");
    return history->device_count ? status : page_say(opening, VERDICT_what, "No device was used.");
}

static const struct page_peak_options *peak_options(const struct view *view)
{
    static const struct page_peak_options none = {0};
    return view->own ? view->own : &none;
}

/* Answers the page. Suggests `--tree` if the page has the table of sites or the highest moments.
 * After any other view, suggests `--moments`. */
static int answer_peak(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const int status = page_peak_answer(opening, study, view, err);
    const struct page_peak_options *own = peak_options(view);

    if (*opening->next)
        page_next(opening,
                  own->moments || !(own->tree || own->by) ? "peak --tree" : "peak --moments");
    return status;
}

/* --- memory that was live in each layer at its moment; a summary has the first layer --- */

struct held {
    struct page_accounts accounts;
    struct sites sites[STUDY_ACCOUNTS_MAX];
    struct blame blames[STUDY_ACCOUNTS_MAX];
};

static int held_find(struct held *held, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct page_accounts *accounts = &held->accounts;
    for (size_t i = 0; i < accounts->count; i++) {
        struct moment *moment = &held->accounts.moments[i];

        if (moment_find("at", view->at, &study->history, accounts->numbers[i], moment, err))
            return -1;
        if (moment->index != INDEX_NONE &&
            (sites_at(&held->sites[i], &study->categories, accounts->numbers[i], moment->index,
                      err) ||
             site_rows_blame(&held->blames[i], study->symbols, &held->sites[i], err)))
            return -1;
    }
    return 0;
}

static void held_release(struct held *held)
{
    for (size_t i = 0; i < held->accounts.count; i++) {
        sites_release(&held->sites[i]);
        blame_release(&held->blames[i]);
    }
}

static const struct account *held_account(const struct held *held, const struct study *study,
                                          size_t i)
{
    return &study->history.accounts[held->accounts.numbers[i]];
}

static void add_moments(struct doc *doc, const struct study *study, const struct view *view,
                        const struct held *held)
{
    doc_list_begin(doc, "moments", NULL);
    for (size_t i = 0; i < held->accounts.count; i++) {
        const struct moment *moment = &held->accounts.moments[i];
        const struct account *account = held_account(held, study, i);
        const bool known = moment->index != INDEX_NONE;

        doc_row_begin(doc_detail_if(doc, i > 0));
        page_layer(doc, study, account, "Layer");
        doc_text(doc_detail(doc), "at", "Moment", view->at ? view->at : "peak");
        doc_known_integer(doc, "time_ns", "At", DOC_NS, known && study_has_times(study),
                          known ? (int64_t)moment->time_ns : 0);
        doc_known_count(doc, "seq", "Event", known, known ? moment->seq : 0);
        doc_known_bytes(doc, "live_bytes", "Live", history_knows(&study->history, account),
                        held->sites[i].total_bytes);
        doc_known_count(doc, "blocks", "Blocks",
                        history_knows(&study->history, account) && !study_lacks(study, LACK_blocks),
                        held->sites[i].total_count);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_sum(struct doc *doc, const struct study *study, const struct account *account,
                    enum sites_by by, const struct site *sum, uint64_t total_bytes)
{
    const char *path = study_path(study, sum->path);
    page_layer(doc_detail(doc), study, account, "Layer");
    if (by == SITES_BY_CATEGORY) {
        doc_text(doc, "category", "Category", category_key(sum->category));
        doc_words(doc, "%s", category_title(sum->category));
    } else {
        doc_text(doc, "phase", "Phase of birth", path);
        doc_words(doc, "%s", path ? path : PAGE_OUTSIDE);
    }
    doc_bytes(doc, "bytes", "Bytes", sum->bytes);
    doc_bar(doc, (double)sum->bytes / (double)total_bytes, 0);
    doc_count(doc, "count", "Blocks", sum->count);
}

static int add_sums(struct doc *doc, const struct study *study, const struct held *held,
                    enum sites_by by, struct err *err)
{
    if (by == SITES_BY_CATEGORY)
        doc_list_begin(doc, "categories", "By category");
    else
        doc_list_begin(doc, "phases_of_birth", "By phase");
    for (size_t i = 0; i < held->accounts.count; i++) {
        struct site *sums;
        const int count = sites_sum(&held->sites[i], by, study->history.path_count, &sums, err);

        if (count < 0)
            return -1;
        for (int n = 0; n < count; n++) {
            doc_row_begin(doc_detail_if(doc, i > 0));
            add_sum(doc, study, held_account(held, study, i), by, &sums[n],
                    held->sites[i].total_bytes);
            doc_row_end(doc);
        }
        free(sums);
    }
    doc_list_end(doc);
    return 0;
}

enum shape { SHAPE_SITES, SHAPE_GROUPS, SHAPE_TREE };

/* Adds the sites. Details always have them; a summary has the view that the user asked for. */
static int add_held_sites(struct doc *doc, const struct study *study, const struct view *view,
                          const struct held *held, enum shape shape, struct err *err)
{
    static const struct page_site_list list = {.summary_rows = PAGE_SITES,
                                               .frame_lines = PAGE_WHOLE_STACK};
    const int by = peak_options(view)->by;
    int status = 0;
    for (size_t i = 0; i < held->accounts.count && !status; i++) {
        struct held_sums kept;

        if (!held->sites[i].count)
            continue;
        if (page_kept_find(&kept, study, held->accounts.numbers[i], held->accounts.moments[i].index,
                           err))
            return -1;
        const struct page_held one = {held->accounts.numbers[i], i == 0, &held->sites[i],
                                      &held->blames[i], &kept};
        status = shape == SHAPE_SITES    ? page_sites_of(doc, study, view, &list, &one, err)
                 : shape == SHAPE_GROUPS ? page_groups(doc, study, view, &one, by, err)
                                         : page_call_tree(doc, study, view, &one, err);
        held_sums_release(&kept);
    }
    return status;
}

static int add_site_lists(struct doc *doc, const struct study *study, const struct view *view,
                          const struct held *held, struct err *err)
{
    static const char *const headings[] = {
        [GROUPS_BY_LINE] = "By line",     [GROUPS_BY_FUNCTION] = "By function",
        [GROUPS_BY_FILE] = "By file",     [GROUPS_BY_OP] = "By operator",
        [GROUPS_BY_MODULE] = "By module", [GROUPS_BY_STACK] = "By stack"};
    const struct page_peak_options *own = peak_options(view);
    const bool has_other = own->by || own->tree || own->moments;
    int status;
    doc_list_begin(has_other ? doc_detail(doc) : doc, "sites", "By call stack");
    status = add_held_sites(doc, study, view, held, SHAPE_SITES, err);
    doc_list_end(doc);
    if (own->by && own->by != GROUPS_BY_CATEGORY && !status) {
        doc_list_begin(doc, "groups", headings[own->by]);
        status = add_held_sites(doc, study, view, held, SHAPE_GROUPS, err);
        doc_list_end(doc);
    }
    if (own->tree && !status) {
        doc_list_begin(doc, "tree", "By call");
        status = add_held_sites(doc, study, view, held, SHAPE_TREE, err);
        doc_list_end(doc);
    }
    return status;
}

static int add_peak_of_device(struct doc *doc, const struct study *study,
                              const struct device_use *use, const struct view *view,
                              struct err *err)
{
    const struct page_peak_options *own = peak_options(view);
    struct held held = {0};
    int status = -1;
    page_accounts_find(&held.accounts, doc, study, use, view);
    if (held_find(&held, study, view, err))
        goto out;
    if (own->by || own->tree || own->moments)
        doc_set_table(doc, own->moments                    ? "high_moments"
                           : own->tree                     ? "tree"
                           : own->by == GROUPS_BY_CATEGORY ? "categories"
                                                           : "groups");
    add_moments(doc, study, view, &held);
    status = add_sums(doc, study, &held, SITES_BY_CATEGORY, err) ||
                     add_sums(doc, study, &held, SITES_BY_PATH, err) ||
                     add_site_lists(doc, study, view, &held, err) ||
                     (own->moments && page_local_peaks(doc, study, view, &held.accounts, err))
                 ? -1
                 : 0;
out:
    held_release(&held);
    return status;
}

static void ask_peak(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    (void)doc;
    if (peak_options(view)->moments)
        ask->needs |= STUDY_NEEDS_local_peaks;
}

const struct page page_peak = {.schema = "gpumemtrace.peak/1",
                               .needs = STUDY_NEEDS_holders,
                               .advises = true,
                               .ask = ask_peak,
                               .answer = answer_peak,
                               .device = add_peak_of_device,
                               .tail = page_warnings};
