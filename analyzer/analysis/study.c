/* SPDX-License-Identifier: MIT */
/* Facts about a study, and the choice of a view; see study.h. */
#include "study.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"
#include "common/sim_spec.h"

#define SMALL_CARD_BYTES ((uint64_t)16 << 30)

/* --- views --- */

size_t view_limit(const struct view *view, size_t count)
{
    return view->top > 0 && (size_t)view->top < count ? (size_t)view->top : count;
}

const char *study_layer(const struct account *account)
{
    switch (account->kind) {
    case ACCOUNT_pool:
        return "pool";
    case ACCOUNT_context:
        return "device";
    case ACCOUNT_managed:
        return "managed";
    case ACCOUNT_host:
        return "host";
    default:
        return "driver";
    }
}

const char *study_pool(const struct study *study, const struct account *account)
{
    if (account->kind != ACCOUNT_pool)
        return NULL;
    return account->pool ? trace_string(&study->trace, account->pool) : TORCH_POOL;
}

uint32_t study_account(const struct study *study, const struct device_use *use,
                       const struct view *view)
{
    uint32_t account;
    return study_accounts(study, use, view, &account, 1) ? account : HISTORY_NONE;
}

size_t study_accounts(const struct study *study, const struct device_use *use,
                      const struct view *view, uint32_t *accounts, size_t limit)
{
    const struct history *history = &study->history;
    size_t count = 0;
    if (view->layer != LAYER_driver && history->accounts[use->leading].kind == ACCOUNT_pool &&
        count < limit)
        accounts[count++] = use->leading;
    for (uint32_t i = 0; view->layer != LAYER_driver && i < history->account_count; i++) {
        const struct account *account = &history->accounts[i];

        if (account->kind == ACCOUNT_pool && account->device == use->device && i != use->leading &&
            count < limit)
            accounts[count++] = i;
    }
    if (view->layer != LAYER_pool && count < limit)
        accounts[count++] = use->accounts[ACCOUNT_device];
    return count;
}

size_t study_leak_accounts(const struct study *study, const struct device_use *use,
                           const struct view *view, uint32_t *accounts, size_t limit)
{
    static const enum account_kind others[] = {ACCOUNT_managed, ACCOUNT_host};
    size_t count = study_accounts(study, use, view, accounts, limit);
    for (size_t i = 0; i < sizeof others / sizeof *others && view->layer == LAYER_none; i++)
        if (count < limit && study->history.accounts[use->accounts[others[i]]].has_begun)
            accounts[count++] = use->accounts[others[i]];
    return count;
}

uint32_t study_counterpart(const struct study *other, const struct study *study, uint32_t number)
{
    const struct account *account = &study->history.accounts[number];
    const char *pool = study_pool(study, account);
    for (uint32_t i = 0; i < other->history.account_count; i++) {
        const struct account *candidate = &other->history.accounts[i];
        const char *name = study_pool(other, candidate);

        if (candidate->device == account->device && candidate->kind == account->kind &&
            (pool == name || (pool && name && !strcmp(pool, name))))
            return i;
    }
    return HISTORY_NONE;
}

const char *study_device_name(int device, char buffer[STUDY_DEVICE_BYTES])
{
    if (device == DEVICE_UNKNOWN)
        snprintf(buffer, STUDY_DEVICE_BYTES, "an unknown device");
    else
        snprintf(buffer, STUDY_DEVICE_BYTES, "device %d", device);
    return buffer;
}

bool study_has_no_limit(const struct study *study)
{
    const char *text = study->trace.meta.dry_run.value;
    struct sim_spec spec;
    struct err unread;
    return text && !sim_spec_parse(text, &spec, &unread) && spec.is_unlimited;
}

bool study_has_backward(const struct study *study)
{
    const struct history *history = &study->history;
    for (size_t i = 0; i < history->path_count; i++)
        if (category_of_rule(history->paths[i].rule) == CATEGORY_gradients)
            return true;
    return false;
}

bool study_has_late_events(const struct study *study)
{
    const char *events = study->trace.meta.dry_run_events.value;
    return events && !strcmp(events, "late");
}

uint64_t study_card_bytes(const struct study *study, int device)
{
    const struct trace *trace = &study->trace;
    if (study_has_no_limit(study))
        return 0;
    for (size_t i = trace->device_count; i-- > 0;)
        if (trace->devices[i].device == device)
            return trace->devices[i].total_bytes;
    return 0;
}

uint64_t study_judged_card_bytes(const struct study *study, int device)
{
    return study_has_no_limit(study) ? SMALL_CARD_BYTES : study_card_bytes(study, device);
}

bool study_lacks(const struct study *study, enum lack lack)
{
    const char *said = study->trace.meta.not_known.value, *words = lack_words(lack);
    const size_t length = strlen(words);
    for (; said; said = strchr(said, ';')) {
        said += strspn(said, "; ");
        if (!strncmp(said, words, length) && (!said[length] || said[length] == ';'))
            return true;
    }
    return false;
}

bool study_has_times(const struct study *study)
{
    return !history_is_imported(&study->history) || study->history.last.time_ns;
}

const char *study_path(const struct study *study, uint32_t path)
{
    return path == HISTORY_NONE ? NULL : study->history.paths[path].text;
}

/* --- checks of a view --- */

enum { KNOWN_BYTES_MAX = 256 };

static int refuse_device(const struct study *study, int device, struct err *err)
{
    const struct history *history = &study->history;
    struct text known;
    text_init(&known, KNOWN_BYTES_MAX);
    for (size_t i = 0; i < history->device_count; i++)
        if (history->devices[i].device != DEVICE_UNKNOWN)
            text_addf(&known, "%s%d", known.length ? ", " : "", history->devices[i].device);
    err_set(err, ERR_USAGE, "%.300s: device %d has no events; those with events: %s",
            study->trace.path, device, known.length ? known.data : "none");
    text_release(&known);
    return -1;
}

static int refuse_layer(const struct study *study, int layer, struct err *err)
{
    if (layer == LAYER_pool)
        err_set(err, ERR_USAGE,
                "%.300s: --layer=pool: no framework reported a pool; use --layer=driver",
                study->trace.path);
    else
        err_set(err, ERR_USAGE,
                "%.300s: --layer=driver: the imported file (%s) does not say what the driver gave; "
                "leave the option out",
                study->trace.path, study->trace.meta.imported_format.value);
    return -1;
}

/* The driver's account always exists, but an imported trace may not know it. */
static bool has_layer(const struct study *study, const struct device_use *use,
                      const struct view *view)
{
    const struct history *history = &study->history;
    const uint32_t account = study_account(study, use, view);
    return account != HISTORY_NONE &&
           (view->layer != LAYER_driver || history_knows(history, &history->accounts[account]));
}

int study_check_view(const struct study *study, const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    bool is_there = view->layer == LAYER_none || !history->device_count;
    if (view->device >= 0 && !history_device(history, view->device))
        return refuse_device(study, view->device, err);
    for (size_t i = 0; i < history->device_count; i++)
        is_there |= (view->device < 0 || history->devices[i].device == view->device) &&
                    has_layer(study, &history->devices[i], view);
    return is_there ? 0 : refuse_layer(study, view->layer, err);
}
