/* SPDX-License-Identifier: MIT */
/* Finds the card that a program needs; see need.h. */
#include "need.h"

#include "analyzer/analysis/study_open.h"
#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/render/units.h"
#include "analyzer/whatif/cards.h"

#define GRANULE_BYTES (UINT64_C(2) << 20)

/* --- figures --- */

static void note_shares(struct need *need, const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_term *term = &ledger->terms[i];

        if (term->account != HISTORY_NONE)
            need->pools_bytes += term->bytes;
        else if (term->library)
            need->libraries_bytes += term->bytes;
    }
    need->outside_bytes = ledger_sum(ledger, LEDGER_context);
    need->card_bytes = (ledger->used_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
}

int need_of_device(struct need *need, const struct study *study, const struct device_use *use,
                   struct err *err)
{
    const struct moment moment = ledger_peak(&study->history, use);
    struct ledger ledger;
    *need =
        (struct need){.device = use->device, .rank_count = trace_world_size(&study->trace).value};
    if (moment.index == INDEX_NONE || !study_has_no_limit(study))
        return 0;
    if (ledger_at(&ledger, &study->history, use, &moment, err))
        return -1;
    if (ledger.used_known)
        note_shares(need, &ledger);
    ledger_release(&ledger);
    return 0;
}

int need_of_trace(struct need *need, const char *path, struct err *err)
{
    struct study study;
    int status = 0;
    *need = (struct need){0};
    if (study_open(&study, path, &(struct study_ask){0}, err))
        return -1;
    for (size_t i = 0; i < study.history.device_count && !status; i++) {
        struct need of_device;

        status = need_of_device(&of_device, &study, &study.history.devices[i], err);
        if (!status && of_device.card_bytes > need->card_bytes)
            *need = of_device;
    }
    study_release(&study);
    return status;
}

/* --- words --- */

static void add_share(struct text *text, uint64_t bytes, const char *whose, const char **between)
{
    if (!bytes)
        return;
    text_addf(text, "%s%s %s", *between, BYTES_TEXT(bytes), whose);
    *between = ", ";
}

static void add_shares(struct text *text, const struct need *need)
{
    const uint64_t told_bytes = need->pools_bytes + need->libraries_bytes + need->outside_bytes;
    const char *between = "";
    add_share(text, need->pools_bytes, "of frameworks' pools", &between);
    add_share(text, need->libraries_bytes, "of libraries", &between);
    add_share(text, need->card_bytes > told_bytes ? need->card_bytes - told_bytes : 0,
              "of the program's own", &between);
    add_share(text, need->outside_bytes, "of the context (assumed) and other processes", &between);
}

/* Adds "fits on t4 (14.75 GiB), not on …": the smallest known card that is large enough, and the
 * next smaller card. */
static void add_cards(struct text *text, const struct need *need)
{
    const struct card *fits = card_for(need->card_bytes);
    const struct card *below = card_below(need->card_bytes);
    if (fits)
        text_addf(text, "it fits on %s (%s)", fits->name, BYTES_TEXT(fits->bytes));
    else
        text_add(text, "it fits on no card known here");
    if (!below)
        return;
    text_addf(text, ", %son %s (%s)%s", below->bytes >= need->card_bytes ? "just " : "not ",
              below->name, BYTES_TEXT(below->bytes),
              below->bytes >= need->card_bytes ? ", where a driver may leave 2 % less" : "");
}

void need_write(struct text *text, const struct need *need)
{
    const struct card *slice = mig_slice_for(need->card_bytes);
    text_addf(text, "needs a card of %s: ", BYTES_TEXT(need->card_bytes));
    add_shares(text, need);
    text_add(text, "; ");
    add_cards(text, need);
    text_addf(text, "; as a MIG slice %s%s", slice ? "on " : "on none", slice ? slice->name : "");
    if (need->rank_count > 1)
        text_add(text, ". " NEED_OF_NCCL);
}
