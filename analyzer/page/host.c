/* SPDX-License-Identifier: MIT */
/* The host's memory, which several pages show beside the card's memory. */
#include "parts.h"

#include <stdio.h>

#include "analyzer/analysis/ledger/host.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/render/units.h"

/* A cgroup that used at least 15/16 of its limit may have reached the limit after the last look. */
enum { NEAR_LIMIT_DIVISOR = 16 };

const char *page_host_end(const struct study *study, char out[PAGE_HOST_END_BYTES])
{
    const struct trace_meta *meta = &study->trace.meta;
    const uint64_t used_bytes = (uint64_t)meta->cgroup_bytes.value;
    const uint64_t limit_bytes = (uint64_t)meta->cgroup_limit_bytes.value;
    const bool is_limited = meta->cgroup_bytes.known && meta->cgroup_limit_bytes.known;
    char rss[UNITS_TEXT_BYTES], used[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];

    if (!meta->rss_bytes.known || study->history.has_exit || study->trace.recording)
        return NULL;
    units_bytes(rss, (uint64_t)meta->rss_bytes.value);
    units_bytes(used, used_bytes);
    units_bytes(limit, limit_bytes);
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
    char live[UNITS_TEXT_BYTES], taken[UNITS_TEXT_BYTES];
    struct sites sites;
    uint64_t taken_bytes;

    if (!account->peak_bytes)
        return 0;
    if (host_pinned_taken(&taken_bytes, &study->history, use, account->peak.index, err) ||
        sites_at(&sites, &study->categories, number, account->peak.index, err))
        return -1;
    doc_bytes(doc_detail(doc), "pinned_peak_bytes", "Pinned", account->peak_bytes);
    doc_bytes(doc_detail(doc), "pinned_taken_bytes", "Taken for it", taken_bytes);
    const int status = page_sites_found(doc, study, view, number, &sites, &list, err);
    sites_release(&sites);
    doc_note(doc,
             "%s was pinned at the peak; the runtime takes about %s of the host for it (assumed: "
             "pieces of 2 MiB).",
             units_bytes(live, account->peak_bytes), units_bytes(taken, taken_bytes));
    return status;
}
