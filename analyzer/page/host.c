/* SPDX-License-Identifier: MIT */
/* The host's memory beside the card's, for several pages. */
#include "parts.h"

#include <stdio.h>

#include "analyzer/analysis/ledger/host.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/render/units.h"

static void add_figure(struct doc *doc, const struct host_use *use, const char *key,
                       const char *label, uint64_t bytes)
{
    doc_known_bytes(doc_detail_if(doc, !use->sample_count), key, label,
                    use->sample_count && bytes != HOST_UNKNOWN, bytes);
}

const char *page_host_end(const struct study *study, char out[PAGE_HOST_END_BYTES])
{
    const struct host_use use = host_use_of(&study->trace);
    char rss[UNITS_TEXT_BYTES], used[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];

    if (!use.sample_count || study->history.has_exit || study->trace.recording)
        return NULL;
    units_bytes(rss, use.last.rss_bytes);
    units_bytes(used, use.last.cgroup_bytes);
    units_bytes(limit, use.last.cgroup_limit_bytes);
    if (host_use_is_near_limit(&use))
        snprintf(out, PAGE_HOST_END_BYTES,
                 "the process ended when it took %s of the host's memory, and its cgroup %s of the "
                 "%s that it may: the kernel's OOM killer may have ended it",
                 rss, used, limit);
    else
        snprintf(out, PAGE_HOST_END_BYTES,
                 "the process ended when it took %s of the host's memory%s%s%s%s", rss,
                 use.last.cgroup_limit_bytes == HOST_UNKNOWN ? "" : ", and its cgroup ",
                 use.last.cgroup_limit_bytes == HOST_UNKNOWN ? "" : used,
                 use.last.cgroup_limit_bytes == HOST_UNKNOWN ? "" : " of a limit of ",
                 use.last.cgroup_limit_bytes == HOST_UNKNOWN ? "" : limit);
    return out;
}

int page_host_memory(struct doc *doc, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct host_use use = host_use_of(&study->trace);

    (void)view, (void)err;
    doc_object_begin(doc, "host_memory", "Memory of the host");
    doc_count(doc_detail(doc), "samples", "Samples", use.sample_count);
    if (use.sample_count)
        doc_integer(doc_detail(doc), "last_time_ns", "Last sample", DOC_NS,
                    (int64_t)use.last.time_ns);
    else
        doc_null(doc_detail(doc), "last_time_ns", "Last sample", DOC_NS);
    add_figure(doc, &use, "rss_bytes", "process, at the end", use.last.rss_bytes);
    add_figure(doc, &use, "rss_peak_bytes", "process, highest", use.rss_peak_bytes);
    add_figure(doc, &use, "cgroup_bytes", "cgroup, at the end", use.last.cgroup_bytes);
    add_figure(doc, &use, "cgroup_peak_bytes", "cgroup, highest", use.cgroup_peak_bytes);
    add_figure(doc, &use, "cgroup_limit_bytes", "cgroup, limit", use.last.cgroup_limit_bytes);
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
