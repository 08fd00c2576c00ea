/* SPDX-License-Identifier: MIT */
/* Writes names of ranks; see who.h. */
#include "who.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

enum { NAMES_SHOWN = 4 };

bool who_has_several_devices(const struct job *job)
{
    for (size_t i = 0; i < job->used_count; i++)
        for (size_t j = 0; j < i; j++)
            if (job->by_peak[i].trace == job->by_peak[j].trace)
                return true;
    return false;
}

bool who_has_ranks(const struct job *job)
{
    for (int i = 0; i < job->count; i++)
        if (!job->surveys[i].rank.known)
            return false;
    return true;
}

ORDER_BY(compare_whos, struct who, RISING(device), RISING(rank));

static void name_run(struct text *text, const struct job *job, const struct who *whos, size_t count,
                     bool has_names)
{
    if (!has_names) {
        for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
            text_addf(text, "%s%.60s", i ? ", " : "", path_name(job->surveys[whos[i].trace].path));
        if (count > NAMES_SHOWN)
            text_addf(text, " and %zu more", count - NAMES_SHOWN);
        return;
    }
    text_add(text, count > 1 ? "ranks " : "rank ");
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && whos[end].rank <= whos[end - 1].rank + 1; end++)
            ;
        text_addf(text, "%s%" PRId64, i ? "," : "", whos[i].rank);
        if (whos[end - 1].rank > whos[i].rank)
            text_addf(text, "-%" PRId64, whos[end - 1].rank);
    }
}

const char *who_name(char label[WHO_BYTES], const struct job *job, struct who *whos, size_t count,
                     bool with_devices)
{
    static const char cut[] = " …";
    const bool has_names = who_has_ranks(job);
    struct text text;
    text_init_in(&text, label, WHO_BYTES - strlen(cut));
    SORT(whos, count, compare_whos);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && (!with_devices || whos[end].device == whos[i].device);
             end++)
            ;
        text_add(&text, i ? "; " : "");
        name_run(&text, job, whos + i, end - i, has_names);
        if (with_devices)
            text_addf(&text, " device %d", whos[i].device);
    }
    if (text_failed(&text))
        memcpy(label + text.length, cut, sizeof cut);
    return label;
}

struct who who_of(const struct job *job, int trace, int device)
{
    const struct trace_integer *rank = &job->surveys[trace].rank;
    return (struct who){
        .rank = rank->known ? rank->value : trace, .device = device, .trace = trace};
}

int who_name_group(char label[WHO_BYTES], const struct job *job, const struct job_group *group,
                   struct err *err)
{
    const bool with_devices = who_has_several_devices(job);
    struct who *whos = array_new(group->count, sizeof *whos, err);
    if (!whos)
        return -1;
    for (size_t i = 0; i < group->count; i++) {
        const struct job_place *place = &job->by_peak[group->first + i];

        whos[i] = who_of(job, place->trace, with_devices ? place->device : 0);
    }
    who_name(label, job, whos, group->count, with_devices);
    free(whos);
    return 0;
}

void who_fit(char label[WHO_BYTES], size_t columns)
{
    static const char cut[] = " …";
    if (utf8_text_columns(label) <= columns)
        return;
    for (size_t i = strlen(label); i-- > 0;) {
        if (label[i] != ',' && label[i] != ';')
            continue;
        label[i] = '\0';
        if (i + sizeof cut > WHO_BYTES || utf8_text_columns(label) + 2 > columns)
            continue;
        memcpy(label + i, cut, sizeof cut);
        return;
    }
}
