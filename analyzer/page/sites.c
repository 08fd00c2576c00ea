/* SPDX-License-Identifier: MIT */
/* Lists of sites. They show who held memory, by the line to blame or by call stack. */
#include "parts.h"

#include <stdlib.h>

#include "analyzer/analysis/site_tables/second_set.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"
#include "holders/kept_by.h"

void page_accounts_find(struct page_accounts *accounts, const struct doc *doc,
                        const struct study *study, const struct device_use *use,
                        const struct view *view)
{
    const size_t most = doc_takes(doc, DOC_DETAIL) ? STUDY_ACCOUNTS_MAX : 1;
    accounts->count = study_accounts(study, use, view, accounts->numbers, most);
}

static int say_two_sets(struct opening *opening, const struct second_set *found)
{
    return page_join(opening, VERDICT_why,
                     "a second set of parameters is live, %s by %s beside %s by %s, and %s one of "
                     "the two has gradients",
                     BYTES_TEXT(found->sets[1].bytes), found->sets[1].name,
                     BYTES_TEXT(found->sets[0].bytes), found->sets[0].name,
                     found->has_trained ? "only" : "at most");
}

static int say_many_sets(struct opening *opening, const struct second_set *found)
{
    enum { SET_TEXT_BYTES = 256 };
    char texts[SECOND_SETS_MOST * SET_TEXT_BYTES];
    struct text list;
    text_init_in(&list, texts, sizeof texts);
    for (size_t i = 0; i < found->count; i++)
        text_addf(&list, "%s%s by %.200s",
                  !i                     ? ""
                  : i + 1 < found->count ? ", "
                                         : " and ",
                  BYTES_TEXT(found->sets[i].bytes), found->sets[i].name);
    return page_join(opening, VERDICT_why,
                     "%zu like sets of parameters are live, %s, and %s one of them has gradients",
                     found->count, texts, found->has_trained ? "only" : "at most");
}

int page_say_second_set(struct opening *opening, const struct study *study, uint32_t account,
                        uint64_t index, const struct blame *blame)
{
    struct second_set found;
    const int status =
        second_set_find(&found, &study->categories, account, index, blame, opening->err);
    if (status <= 0)
        return status < 0 ? -1 : 1;
    return found.count > 2 ? say_many_sets(opening, &found) : say_two_sets(opening, &found);
}

/* --- for programs: one row for each stack --- */

static int add_site(struct doc *doc, const struct study *study, const struct view *view,
                    const struct page_held *held, const struct site *site, struct err *err)
{
    page_layer(doc, study, &study->history.accounts[held->account], "Layer");
    doc_bytes(doc, "bytes", "Bytes", site->bytes);
    doc_count(doc, "count", "Blocks", site->count);
    doc_text(doc, "phase", "Phase", study_path(study, site->path));
    doc_text(doc, "category", "Category", category_key(site->category));
    page_kept_by(doc, study, held->kept, site_stack(site->site_id));
    return page_frames_of(doc, study, view, blame_of(held->blame, site->site_id), 0,
                          PAGE_WHOLE_STACK, err);
}

static size_t site_limit(const struct view *view, const struct page_site_list *list, size_t count)
{
    if (list->left_out_key && !view->top)
        return count < PAGE_SITES_MOST ? count : PAGE_SITES_MOST;
    return view_limit(view, count);
}

static int add_sites(struct doc *doc, const struct study *study, const struct view *view,
                     const struct page_site_list *list, const struct page_held *held,
                     struct err *err)
{
    const size_t limit =
        doc_takes(doc, DOC_DETAIL) ? site_limit(view, list, held->sites->count) : 0;
    int status = 0;
    for (size_t i = 0; i < limit && !status; i++) {
        doc_row_begin(doc_detail(doc));
        status = add_site(doc, study, view, held, &held->sites->items[i], err);
        doc_row_end(doc);
    }
    return status;
}

/* --- for people: one row for each line that is to blame --- */

static int add_row(struct doc *doc, const struct study *study, const struct view *view,
                   const struct page_held *held, const struct site_row *row, int frame_lines,
                   struct err *err)
{
    const struct sites *sites = held->sites;
    const char *path = study_path(study, row->largest->path);
    doc_bytes(doc, NULL, "Bytes", row->bytes);
    doc_ratio(doc, NULL, "Share", (double)row->bytes / (double)sites->total_bytes);
    doc_bar(doc, (double)row->bytes / (double)sites->total_bytes, 0);
    doc_count(doc, NULL, "Blocks", row->count);
    doc_text(doc, NULL, "Phase", path);
    if (row->has_more_paths)
        doc_words(doc, "%s, …", path ? path : PAGE_OUTSIDE);
    doc_text(doc, NULL, "Category", category_key(row->largest->category));
    if (row->has_more_categories)
        doc_words(doc, "%s, …", category_key(row->largest->category));
    if (page_frames_of(doc, study, view, row->blamed, row->stack_count ? row->stack_count - 1 : 0,
                       frame_lines, err))
        return -1;
    page_kept_by(doc, study, held->kept, site_stack(row->largest->site_id));
    return 0;
}

static int add_rows(struct doc *doc, const struct study *study, const struct view *view,
                    const struct page_site_list *list, const struct page_held *held,
                    struct err *err)
{
    const size_t most = view->top ? (size_t)view->top : list->summary_rows;
    struct site_row *rows;
    int status = 0;
    if (!doc_takes(doc, DOC_SUMMARY))
        return 0;
    const int count = site_rows_of(&rows, &study->history, held->sites, held->blame, err);
    for (int i = 0; i < count && (size_t)i < most && !status; i++) {
        doc_row_begin(doc_summary(doc));
        status = add_row(doc, study, view, held, &rows[i], list->frame_lines, err);
        doc_row_end(doc);
    }
    if (count < 0)
        return -1;
    page_kept_note(doc, held->kept);
    free(rows);
    return status;
}

int page_sites_of(struct doc *doc, const struct study *study, const struct view *view,
                  const struct page_site_list *list, const struct page_held *held, struct err *err)
{
    return (held->is_leading && add_rows(doc, study, view, list, held, err)) ||
                   add_sites(doc, study, view, list, held, err)
               ? -1
               : 0;
}

/* Labels the sites. */
static int add_sites_found(struct doc *doc, const struct study *study, const struct view *view,
                           const struct page_site_list *list, const struct page_held *found,
                           struct err *err)
{
    const struct sites *sites = found->sites;
    const bool has_rows = found->is_leading && doc_takes(doc, DOC_SUMMARY);
    struct page_held held = *found;
    struct blame blame;
    if (site_rows_blame_first(&blame, study->symbols, sites,
                              has_rows ? sites->count : site_limit(view, list, sites->count), err))
        return -1;
    held.blame = &blame;
    const int status = page_sites_of(doc, study, view, list, &held, err);
    blame_release(&blame);
    return status;
}

int page_sites_found(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t account, const struct sites *sites, const struct held_sums *kept,
                     const struct page_site_list *list, struct err *err)
{
    const struct page_held found = {account, true, sites, NULL, kept};
    doc_list_begin(doc, list->key, list->heading);
    const int status = add_sites_found(doc, study, view, list, &found, err);
    doc_list_end(doc);
    return status;
}

/* --- lists of several accounts --- */

/* The sites that the list of one account leaves out. */
struct left_out {
    size_t count;
    uint64_t bytes;
};

static struct left_out left_out_of(const struct view *view, const struct page_site_list *list,
                                   const struct sites *sites)
{
    struct left_out left_out = {0};
    for (size_t i = site_limit(view, list, sites->count); i < sites->count; i++) {
        left_out.count++;
        left_out.bytes += sites->items[i].bytes;
    }
    return left_out;
}

/* People see the sites of one account, the first one that has any. */
static int add_sites_of_account(struct doc *doc, const struct study *study, const struct view *view,
                                const struct page_accounts *accounts, size_t i,
                                const struct page_site_list *list, struct left_out *left_out,
                                bool *is_shown, struct err *err)
{
    const uint32_t number = accounts->numbers[i];
    const uint64_t index = accounts->moments[i].index;
    struct held_sums kept;
    struct sites sites;
    if (index == INDEX_NONE)
        return 0;
    if (page_kept_find(&kept, study, number, index, err))
        return -1;
    if (sites_at(&sites, &study->categories, number, index, err)) {
        held_sums_release(&kept);
        return -1;
    }
    const struct page_held found = {number, !*is_shown, &sites, NULL, &kept};
    *is_shown |= sites.count > 0;
    *left_out = left_out_of(view, list, &sites);
    const int status = add_sites_found(doc, study, view, list, &found, err);
    sites_release(&sites);
    held_sums_release(&kept);
    return status;
}

static void add_left_out(struct doc *doc, const struct study *study,
                         const struct page_accounts *accounts, const struct page_site_list *list,
                         const struct left_out left_out[])
{
    doc_list_begin(doc_detail(doc), list->left_out_key, "Left out");
    for (size_t i = 0; i < accounts->count; i++) {
        if (!left_out[i].count)
            continue;
        doc_row_begin(doc);
        page_layer(doc, study, &study->history.accounts[accounts->numbers[i]], "Layer");
        doc_count(doc, "sites_count", "Sites", left_out[i].count);
        doc_bytes(doc, "bytes", "Bytes", left_out[i].bytes);
        doc_text(doc, "command", "Shown by", list->command);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

int page_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct page_accounts *accounts, const struct page_site_list *list,
               struct err *err)
{
    struct left_out left_out[STUDY_ACCOUNTS_MAX] = {{0}};
    bool is_shown = false;
    doc_list_begin(doc, list->key, list->heading);
    for (size_t i = 0; i < accounts->count; i++)
        if (add_sites_of_account(doc, study, view, accounts, i, list, &left_out[i], &is_shown, err))
            return -1;
    doc_list_end(doc);
    if (list->left_out_key)
        add_left_out(doc, study, accounts, list, left_out);
    return 0;
}

int page_sites_at_peak(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    static const struct page_site_list list = {.key = "sites_at_peak",
                                               .heading = "Largest call stacks at the peak",
                                               .summary_rows = 5,
                                               .frame_lines = 3,
                                               .left_out_key = "sites_at_peak_left_out",
                                               .command = "gpumemtrace peak"};
    struct page_accounts accounts;
    page_accounts_find(&accounts, doc, study, use, view);
    for (size_t i = 0; i < accounts.count; i++)
        accounts.moments[i] = study->history.accounts[accounts.numbers[i]].peak;
    return page_sites(doc, study, view, &accounts, &list, err);
}
