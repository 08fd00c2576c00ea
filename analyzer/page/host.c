/* SPDX-License-Identifier: MIT */
/* The host's memory, which several pages show beside the card's memory. */
#include "parts.h"

#include <ctype.h>
#include <stdio.h>

#include "analyzer/analysis/ledger/host.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/torch/settings.h"
#include "analyzer/thresholds/thresholds.h"

const char *page_host_end(const struct study *study, char out[PAGE_HOST_END_BYTES])
{
    const struct trace_meta *meta = &study->trace.meta;
    const uint64_t used_bytes = (uint64_t)meta->cgroup_bytes.value;
    const uint64_t limit_bytes = (uint64_t)meta->cgroup_limit_bytes.value;
    const bool is_limited = meta->cgroup_bytes.known && meta->cgroup_limit_bytes.known;
    if (!meta->rss_bytes.known || study->history.has_exit || study->trace.recording)
        return NULL;
    const char *rss = BYTES_TEXT((uint64_t)meta->rss_bytes.value);
    const char *used = BYTES_TEXT(used_bytes);
    const char *limit = BYTES_TEXT(limit_bytes);
    if (is_limited && used_bytes >= limit_bytes - limit_bytes / NEAR_LIMIT_DIVISOR)
        snprintf(out, PAGE_HOST_END_BYTES,
                 "the process ended when it took %s of the host's memory, and its cgroup %s of the "
                 "%s that it may: the kernel's OOM killer may have ended it",
                 rss, used, limit);
    else
        snprintf(out, PAGE_HOST_END_BYTES,
                 "the process ended when it took %s of the host's memory%s%s%s%s", rss,
                 is_limited ? ", and its cgroup " : "", is_limited ? used : "",
                 is_limited ? " of a limit of " : "", is_limited ? limit : "");
    return out;
}

/* --- the answer --- */

/* The device with most memory of a kind beside the card's; NULL: none has much. */
static const struct device_use *find_most_beside(const struct study *study, const struct view *view,
                                                 enum account_kind kind)
{
    const struct history *history = &study->history;
    const struct device_use *found = NULL;
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < history->device_count && view->layer == LAYER_none; i++) {
        const struct device_use *use = &history->devices[i];
        const uint64_t bytes = history->accounts[use->accounts[kind]].peak_bytes;
        const uint64_t card_bytes = history->accounts[use->accounts[ACCOUNT_device]].peak_bytes;
        if ((view->device < 0 || view->device == use->device) && bytes > most_bytes &&
            bytes > card_bytes / BESIDE_DIVISOR) {
            found = use;
            most_bytes = bytes;
        }
    }
    return found;
}

/* Says that PyTorch may have rounded the requests, and the ways around that. */
static int say_rounded(struct opening *opening, const struct study *study,
                       const struct account *account, const struct host_rounded *rounded)
{
    char setting[REMEDY_SETTING_BYTES];
    if (!rounded->are_powers || rounded->bytes * 2 <= account->peak_bytes)
        return 1;
    const struct torch_setup setup = trace_torch_setup(&study->trace);
    const bool has_setting = setup.release && torch_setting_write(setting, sizeof setting, &setup,
                                                                  TORCH_NO_PINNED_ROUNDING,
                                                                  TORCH_RELEASE_pinned_rounding);
    page_join(opening, VERDICT_why,
              "PyTorch rounds such requests up to powers of two, so up to half of it may be "
              "rounding");
    return page_say(opening, VERDICT_do,
                    "If the tensors are smaller, cut them from one pinned buffer of a power of "
                    "two, or pin their own memory with cudaHostRegister%s%s.",
                    has_setting ? ", or set " : "", has_setting ? setting : "");
}

/* Says the peak of managed or pinned memory, and who made most of it. Managed memory may exceed the
 * card. */
static int say_peak_of(struct opening *opening, const struct study *study, uint32_t number,
                       struct err *err)
{
    enum { MOST_BYTES = 1024 };
    const struct account *account = &study->history.accounts[number];
    const uint64_t card_bytes = study_card_bytes(study, account->device);
    const bool is_managed = account->kind == ACCOUNT_managed;
    const bool is_more = is_managed && card_bytes && account->peak_bytes > card_bytes;
    char most[MOST_BYTES];
    struct sites sites;
    struct blame blame;
    int status = -1;
    if (sites_at(&sites, &study->categories, number, account->peak.index, err))
        return -1;
    if (!site_rows_blame(&blame, study->symbols, &sites, err)) {
        status = page_format_most(most, sizeof most, study, &sites, &blame, err);
        blame_release(&blame);
    }
    sites_release(&sites);
    if (status)
        return -1;
    *most = (char)tolower((unsigned char)*most);
    return page_join(opening, VERDICT_why, "%s peaked at %s%s%s%s%s",
                     is_managed ? "managed memory" : "pinned host memory",
                     BYTES_TEXT(account->peak_bytes), is_more ? ", more than the card's " : "",
                     is_more ? BYTES_TEXT(card_bytes) : "", *most ? ", " : "", most);
}

static int say_pinned(struct opening *opening, const struct study *study,
                      const struct device_use *use, struct err *err)
{
    const uint32_t number = use->accounts[ACCOUNT_host];
    const struct account *account = &study->history.accounts[number];
    struct host_rounded rounded;
    if (host_rounded_find(&rounded, study, number, account->peak.index, err) ||
        say_peak_of(opening, study, number, err) < 0)
        return -1;
    if (account->peak_bytes > study->history.accounts[account->driver].peak_bytes)
        page_next(opening, "ledger");
    return say_rounded(opening, study, account, &rounded);
}

int page_beside_answer(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct device_use *managed = find_most_beside(study, view, ACCOUNT_managed);
    const struct device_use *pinned = find_most_beside(study, view, ACCOUNT_host);
    return (managed && say_peak_of(opening, study, managed->accounts[ACCOUNT_managed], err) < 0) ||
                   (pinned && say_pinned(opening, study, pinned, err) < 0)
               ? -1
               : managed || pinned;
}

/* --- parts --- */

int page_host_memory(struct doc *doc, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    const struct {
        const char *key, *label;
        const struct trace_integer *figure;
    } rows[] = {{"rss_bytes", "process, at the end", &meta->rss_bytes},
                {"rss_peak_bytes", "process, highest", &meta->rss_peak_bytes},
                {"cgroup_bytes", "cgroup, at the end", &meta->cgroup_bytes},
                {"cgroup_peak_bytes", "cgroup, highest", &meta->cgroup_peak_bytes},
                {"cgroup_limit_bytes", "cgroup, limit", &meta->cgroup_limit_bytes}};

    (void)view, (void)err;
    doc_object_begin(doc, "host_memory", "Memory of the host");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        doc_known_bytes(doc_detail_if(doc, !meta->rss_bytes.known), rows[i].key, rows[i].label,
                        rows[i].figure->known, (uint64_t)rows[i].figure->value);
    doc_object_end(doc);
    return 0;
}

int page_pinned_memory(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    static const struct page_site_list list = {.key = "pinned_sites",
                                               .heading = "Pinned memory of the host at its peak",
                                               .summary_rows = PAGE_SITES,
                                               .frame_lines = 1};
    const uint32_t number = use->accounts[ACCOUNT_host];
    const struct account *account = &study->history.accounts[number];
    struct sites sites;
    uint64_t taken_bytes;
    if (!account->peak_bytes)
        return 0;
    if (host_pinned_taken(&taken_bytes, &study->history, use, account->peak.index, err) ||
        sites_at(&sites, &study->categories, number, account->peak.index, err))
        return -1;
    doc_bytes(doc_detail(doc), "pinned_peak_bytes", "Pinned", account->peak_bytes);
    doc_bytes(doc_detail(doc), "pinned_taken_bytes", "Taken for it", taken_bytes);
    const int status = page_sites_found(doc, study, view, number, &sites, NULL, &list, err);
    sites_release(&sites);
    doc_note(doc,
             "%s was pinned at the peak; the runtime takes about %s of the host for it (assumed: "
             "pieces of 2 MiB).",
             BYTES_TEXT(account->peak_bytes), BYTES_TEXT(taken_bytes));
    return status;
}
