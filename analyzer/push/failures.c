/* SPDX-License-Identifier: MIT */
/* Adds the rows of failed allocations; see summary.h. */
#include "parts.h"
#include "analyzer/oom/oom_kind.h"
#include "analyzer/page/oom/told.h"

enum { EXPLANATION_MOST_BYTES = 1024 };

static int add_failure(struct rows *rows, const struct study *study, const struct origin *origin,
                       int process, const struct failure *failure, struct err *err)
{
    const struct account *account = &study->history.accounts[failure->account];
    char label[BLAME_TEXT_BYTES], words[EXPLANATION_MOST_BYTES];
    struct text explanation;
    struct oom oom;
    text_init_in(&explanation, words, sizeof words);
    if (oom_explain(&oom, &study->history, failure, err) ||
        page_oom_explain(&explanation, study, &oom, err) ||
        blame_alone(label, study->symbols, failure->site_id, err) < 0)
        return -1;
    rows_begin(rows);
    rows_integer(rows, FLEET_failure_process, process);
    rows_number(rows, FLEET_failure_number, failure->number);
    rows_integer(rows, FLEET_failure_device, account->device);
    rows_text(rows, FLEET_failure_layer, summary_layer(study, account));
    rows_number(rows, FLEET_failure_unix_ns, origin->start_unix_ns + failure->event.time_ns);
    rows_number(rows, FLEET_failure_time_ns, failure->event.time_ns);
    rows_number(rows, FLEET_failure_seq, failure->event.seq);
    rows_text(rows, FLEET_failure_phase, study_path(study, failure->path));
    rows_number(rows, FLEET_failure_asked_bytes, oom.requested_bytes);
    rows_number(rows, FLEET_failure_live_bytes, oom.live_bytes);
    rows_text(rows, FLEET_failure_verdict, oom_verdict_name(oom.verdict));
    rows_text(rows, FLEET_failure_kind, oom_kind_name(oom_kind_of(&study->history, failure)));
    rows_text(rows, FLEET_failure_explanation, explanation.data);
    rows_text(rows, FLEET_failure_site, label);
    rows_end(rows);
    return 0;
}

int summary_add_failures(struct rows *rows, const struct study *study, const struct origin *origin,
                         int process, struct err *err)
{
    for (size_t i = 0; i < study->history.failure_count; i++)
        if (add_failure(rows, study, origin, process, &study->history.failures[i], err))
            return -1;
    return 0;
}
