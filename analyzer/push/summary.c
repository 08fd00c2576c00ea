/* SPDX-License-Identifier: MIT */
/* Adds the rows of processes, devices, phases and ledgers; see summary.h. */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/page/parts.h"
#include "analyzer/util/array.h"

const unsigned summary_needs = STUDY_NEEDS_phases | STUDY_NEEDS_growth;

void summary_init(struct summary *summary, const struct fleet_key *key)
{
    for (int i = 0; i < FLEET_TABLES; i++)
        rows_init(&summary->tables[i], (enum fleet_table)i, key);
}

void summary_release(struct summary *summary)
{
    for (int i = 0; i < FLEET_TABLES; i++)
        rows_release(&summary->tables[i]);
}

const char *summary_layer(const struct study *study, const struct account *account)
{
    const char *pool = study_pool(study, account);
    return pool ? pool : study_layer(account);
}

/* --- the process --- */

static const char *ending(const struct study *study)
{
    const struct trace *trace = &study->trace;
    if (trace->recording)
        return "recording";
    if (history_is_imported(&study->history))
        return "unknown";
    if (!study->history.has_exit)
        return "killed";
    return trace->meta.exit_status.known ? "exit" : "exec";
}

static uint64_t lasted_ns(const struct study *study)
{
    const struct trace_integer *end = &study->trace.meta.end_ns;
    return end->known && end->value > 0 ? (uint64_t)end->value : study->history.last_row_time_ns;
}

static void add_process(struct rows *rows, const struct study *study, const struct origin *origin,
                        int process)
{
    const struct trace_meta *meta = &study->trace.meta;
    char why[PAGE_HOST_END_BYTES];
    rows_begin(rows);
    rows_integer(rows, FLEET_process_process, process);
    rows_text(rows, FLEET_process_host, meta->host.value);
    rows_integer(rows, FLEET_process_pid, meta->pid.value);
    rows_maybe(rows, FLEET_process_local_rank, origin->local_rank.known, origin->local_rank.value);
    rows_maybe(rows, FLEET_process_world_size, origin->world_size.known, origin->world_size.value);
    rows_text(rows, FLEET_process_command, meta->command.value);
    rows_text(rows, FLEET_process_path, origin->path);
    rows_number(rows, FLEET_process_start_unix_ns, origin->start_unix_ns);
    rows_number(rows, FLEET_process_duration_ns, lasted_ns(study));
    rows_number(rows, FLEET_process_events, study->history.row_count);
    rows_maybe(rows, FLEET_process_lost_events, meta->lost_events.known, meta->lost_events.value);
    rows_maybe(rows, FLEET_process_in_flight_events, meta->in_flight_events.known,
               meta->in_flight_events.value);
    rows_number(rows, FLEET_process_complete, meta->complete.known && meta->complete.value);
    rows_text(rows, FLEET_process_ended, ending(study));
    rows_maybe(rows, FLEET_process_exit_status, meta->exit_status.known, meta->exit_status.value);
    rows_text(rows, FLEET_process_ended_why, page_host_end(study, why));
    rows_end(rows);
}

/* --- a device --- */

static void add_device(struct rows *rows, const struct study *study, const struct device_use *use,
                       const struct account_leak *found, int process)
{
    const struct account *account = &study->history.accounts[use->leading];
    const struct trace_device *card = page_card(study, use->device);
    rows_begin(rows);
    rows_integer(rows, FLEET_device_process, process);
    rows_integer(rows, FLEET_device_device, use->device);
    rows_text(rows, FLEET_device_uuid, card ? card->uuid : NULL);
    rows_text(rows, FLEET_device_name, card ? card->name : NULL);
    rows_number(rows, FLEET_device_total_bytes, study_card_bytes(study, use->device));
    rows_text(rows, FLEET_device_layer, summary_layer(study, account));
    rows_number(rows, FLEET_device_peak_bytes, account->peak_bytes);
    rows_number(rows, FLEET_device_peak_time_ns, account->peak.time_ns);
    rows_text(rows, FLEET_device_peak_phase, study_path(study, account->peak_path));
    rows_number(rows, FLEET_device_driver_peak_bytes,
                study->history.accounts[use->accounts[ACCOUNT_device]].peak_bytes);
    rows_number(rows, FLEET_device_reserved_peak_bytes, account->peak_reserved_bytes);
    rows_number(rows, FLEET_device_live_at_exit_bytes, account->live_bytes);
    rows_number(rows, FLEET_device_allocations, account->allocations_count);
    rows_number(rows, FLEET_device_frees, account->frees_count);
    rows_number(rows, FLEET_device_failed, account->failed_count);
    rows_text(rows, FLEET_device_leak, leak_verdict_name(found->leak.verdict));
    rows_maybe(rows, FLEET_device_steps, found->growth.ends < STEP_ENDS,
               (int64_t)found->growth.ends_count);
    rows_maybe(rows, FLEET_device_bytes_per_step, found->growth.total.has_slope,
               summary_whole(found->growth.total.slope));
    rows_number(rows, FLEET_device_leak_bytes_per_step,
                found->leak.verdict == LEAK_FOUND ? (uint64_t)summary_whole(found->leak.slope) : 0);
    rows_end(rows);
}

/* --- phases --- */

ORDER_POINTERS_BY(compare_allocated, struct phase_row, FALLING(allocated_bytes), ORDER(a, b));

static void add_phase(struct rows *rows, const struct study *study, const struct phase_row *row,
                      int process, int device, int number)
{
    rows_begin(rows);
    rows_integer(rows, FLEET_phase_process, process);
    rows_integer(rows, FLEET_phase_device, device);
    rows_integer(rows, FLEET_phase_number, number);
    rows_text(rows, FLEET_phase_phase, study_path(study, row->path));
    rows_text(rows, FLEET_phase_source, phase_source_name(&study->history, row->path));
    rows_number(rows, FLEET_phase_count, row->count);
    rows_number(rows, FLEET_phase_entry_bytes, row->entry_bytes);
    rows_number(rows, FLEET_phase_peak_bytes, row->peak_bytes);
    rows_number(rows, FLEET_phase_allocated_bytes, row->allocated_bytes);
    rows_number(rows, FLEET_phase_freed_bytes, row->freed_bytes);
    rows_number(rows, FLEET_phase_kept_bytes, row->kept_bytes);
    rows_end(rows);
}

static int add_phases(struct rows *rows, const struct study *study, const struct device_use *use,
                      int process, struct err *err)
{
    const struct phase_rows phases = phases_of(&study->phases, use->leading);
    const struct phase_row **sorted = array_new(phases.count, sizeof *sorted, err);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < phases.count; i++)
        sorted[i] = &phases.items[i];
    if (phases.count > SUMMARY_PHASES)
        SORT(sorted, phases.count, compare_allocated);
    for (size_t i = 0; i < phases.count && i < SUMMARY_PHASES; i++)
        add_phase(rows, study, sorted[i], process, use->device, (int)i);
    free(sorted);
    return 0;
}

/* --- the ledger --- */

static void add_term(struct rows *rows, const struct study *study, const struct ledger *ledger,
                     size_t number, int process, int device)
{
    const struct ledger_term *term = &ledger->terms[number];
    const struct ledger_words *words = ledger_words(term->kind);
    rows_begin(rows);
    rows_integer(rows, FLEET_ledger_process, process);
    rows_integer(rows, FLEET_ledger_device, device);
    rows_integer(rows, FLEET_ledger_number, (int64_t)number);
    rows_text(rows, FLEET_ledger_owner, words->key);
    rows_text(rows, FLEET_ledger_name,
              term->account != HISTORY_NONE
                  ? study_pool(study, &study->history.accounts[term->account])
                  : ledger_library(ledger, term));
    rows_text(rows, FLEET_ledger_source, ledger_source_key(words->source));
    rows_number(rows, FLEET_ledger_bytes, term->bytes);
    rows_end(rows);
}

static int add_ledger(struct rows *rows, const struct study *study, const struct device_use *use,
                      int process, struct err *err)
{
    const struct moment peak = ledger_peak(&study->history, use);
    struct ledger ledger;
    if (peak.index == INDEX_NONE)
        return 0;
    if (ledger_at(&ledger, &study->history, use, &peak, err))
        return -1;
    for (size_t i = 0; i < ledger.count; i++)
        add_term(rows, study, &ledger, i, process, use->device);
    ledger_release(&ledger);
    return 0;
}

/* --- all of it --- */

static int add_device_rows(struct summary *summary, const struct study *study,
                           const struct device_use *use, int process, struct err *err)
{
    const struct summary_place place = {study, use, process};
    struct rows *tables = summary->tables;
    struct account_leak found;
    if (account_leak_find(&found, study, use->leading, err))
        return -1;
    add_device(&tables[FLEET_device], study, use, &found, process);
    const int status = summary_add_sites(&tables[FLEET_site], &place, &found, err) ||
                               add_phases(&tables[FLEET_phase], study, use, process, err) ||
                               add_ledger(&tables[FLEET_ledger], study, use, process, err)
                           ? -1
                           : 0;
    account_leak_release(&found);
    return status;
}

int summary_add(struct summary *summary, const struct study *study, const struct origin *origin,
                int process, struct err *err)
{
    add_process(&summary->tables[FLEET_process], study, origin, process);
    for (size_t i = 0; i < study->history.device_count; i++) {
        const struct device_use *use = &study->history.devices[i];
        const uint64_t peak_bytes = study->history.accounts[use->leading].peak_bytes;

        if ((use->device != DEVICE_UNKNOWN || peak_bytes) &&
            add_device_rows(summary, study, use, process, err))
            return -1;
    }
    if (summary_add_failures(&summary->tables[FLEET_failure], study, origin, process, err))
        return -1;
    for (int i = 0; i < FLEET_TABLES; i++)
        if (summary_has((enum fleet_table)i) && rows_check(&summary->tables[i], err))
            return -1;
    return 0;
}
