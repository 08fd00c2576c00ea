/* SPDX-License-Identifier: MIT */
/* Lower bounds, and what they are bounds of; see bounds.h. */
#include "bounds.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "page.h"
#include "parts.h"

int bounds_note(struct bounds *bounds, const struct study *study, struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    const struct history *history = &study->history;

    if (!meta->dry_run_events.value || !meta->command.value)
        return 0;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        struct bound *grown =
            array_grow(bounds->items, &bounds->capacity, bounds->count, sizeof *grown, err);

        if (!grown)
            return -1;
        bounds->items = grown;
        grown[bounds->count] =
            (struct bound){.command = strdup(meta->command.value),
                           .rank = meta->rank,
                           .device = use->device,
                           .is_late = study_has_late_events(study),
                           .peak_bytes = history->stocks[use->stocks[ACCOUNT_device]].peak_bytes};
        if (!grown[bounds->count].command) {
            err_set(err, ERR_SYSTEM, "out of memory for the job");
            return -1;
        }
        bounds->count++;
    }
    return 0;
}

static bool is_pair(const struct bound *early, const struct bound *late)
{
    return !early->is_late && late->is_late && early->device == late->device &&
           early->rank.known == late->rank.known &&
           (!early->rank.known || early->rank.value == late->rank.value) &&
           !strcmp(early->command, late->command);
}

static void add_pair(struct doc *doc, const struct bound *early, const struct bound *late)
{
    char device[STUDY_DEVICE_BYTES], least[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];

    study_device_name(early->device, device);
    units_bytes(least, early->peak_bytes);
    units_bytes(most, late->peak_bytes);
    doc_row_begin(doc_detail(doc));
    page_device_number(doc, "Device", early->device);
    doc_bytes(doc, "done_bytes", "Events done", early->peak_bytes);
    doc_bytes(doc, "late_bytes", "Events late", late->peak_bytes);
    doc_row_end(doc);
    if (early->peak_bytes == late->peak_bytes)
        doc_note(doc,
                 "The driver's peak on %s is %s, whether events are reached at once or only when "
                 "the host waits for them.",
                 device, least);
    else
        doc_note(
            doc,
            "The driver's peak on %s is %s if events are reached at once (a lower bound), and %s "
            "if only when the host waits for them: on a card expect one between.",
            device, least, most);
}

void bounds_add(struct doc *doc, const struct bounds *bounds)
{
    doc_list_begin(doc, "bounds", NULL);
    for (size_t i = 0; i < bounds->count; i++)
        for (size_t j = 0; j < bounds->count; j++)
            if (is_pair(&bounds->items[i], &bounds->items[j]))
                add_pair(doc, &bounds->items[i], &bounds->items[j]);
    doc_list_end(doc);
}

void bounds_release(struct bounds *bounds)
{
    for (size_t i = 0; i < bounds->count; i++)
        free(bounds->items[i].command);
    free(bounds->items);
    *bounds = (struct bounds){0};
}
