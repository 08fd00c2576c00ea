/* SPDX-License-Identifier: MIT */
/* A lower and an upper bound from two dry runs; see bounds.h. */
#include "bounds.h"

#include <string.h>

#include "analyzer/render/units.h"
#include "analyzer/page/parts.h"

static bool is_late(const struct survey *survey)
{
    return survey->dry_run_events && !strcmp(survey->dry_run_events, "late");
}

static bool is_pair(const struct job *job, const struct job_place *early,
                    const struct job_place *late)
{
    const struct survey *a = &job->surveys[early->trace], *b = &job->surveys[late->trace];
    return a->dry_run_events && b->dry_run_events && a->command && b->command && !is_late(a) &&
           is_late(b) && early->device == late->device && a->rank.known == b->rank.known &&
           (!a->rank.known || a->rank.value == b->rank.value) && !strcmp(a->command, b->command);
}

static void add_pair(struct doc *doc, const struct job_place *early, const struct job_place *late)
{
    const char *device = DEVICE_TEXT(early->device);
    const char *least = BYTES_TEXT(early->driver_peak_bytes);
    doc_row_begin(doc_detail(doc));
    page_device_number(doc, "Device", early->device);
    doc_bytes(doc, "done_bytes", "Events done", early->driver_peak_bytes);
    doc_bytes(doc, "late_bytes", "Events late", late->driver_peak_bytes);
    doc_row_end(doc);
    if (early->driver_peak_bytes == late->driver_peak_bytes)
        doc_note(doc,
                 "The driver's peak on %s is %s, whether events complete at once or only when the "
                 "host waits for them.",
                 device, least);
    else
        doc_note(doc,
                 "The driver's peak on %s is %s if events complete at once (a lower bound), and %s "
                 "if they complete only when the host waits for them; on a card expect a peak "
                 "between the two.",
                 device, least, BYTES_TEXT(late->driver_peak_bytes));
}

void bounds_add(struct doc *doc, const struct job *job)
{
    doc_list_begin(doc, "bounds", NULL);
    for (size_t i = 0; i < job->place_count; i++)
        for (size_t j = 0; j < job->place_count; j++)
            if (is_pair(job, &job->places[i], &job->places[j]))
                add_pair(doc, &job->places[i], &job->places[j]);
    doc_list_end(doc);
}
