/* SPDX-License-Identifier: MIT */
/* Finds settings of PyTorch's allocator that may help; see settings.h. */
#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/study_open.h"
#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/oom/oom.h"
#include "analyzer/torch/frames.h"
#include "analyzer/torch/settings.h"
#include "analyzer/util/glob.h"
#include "analyzer/whatif/whatif.h"

/* The driver maps memory in units of this size. */
#define GRANULE_BYTES (UINT64_C(2) << 20)

static const struct fix_setting_words rows[] = {
#define SETTING(key, words, since, model, last, price) {#key, words, since, model, last, price},
#include "analyzer/remedy/remedies.def"
};

const struct fix_setting_words *fix_setting_words(enum fix_setting_key key)
{
    return &rows[key];
}

static const char *const prices[][2] = {
#define PRICE(pattern, price) {pattern, price},
#include "analyzer/remedy/remedies.def"
};
enum { PRICE_COUNT = sizeof prices / sizeof *prices };

static size_t price_row(const char *name)
{
    char small[64];
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof small; length++)
        small[length] = (char)tolower((unsigned char)name[length]);
    small[length] = '\0';
    size_t i = 0;
    while (!glob_match(prices[i][0], small)) /* the last pattern is "*" */
        i++;
    return i;
}

const char *fix_price_of(const char *name)
{
    return prices[price_row(name)][1];
}

bool fix_may_be_size(const char *name)
{
    return price_row(name) < PRICE_COUNT - 1;
}

/* --- the text of settings --- */

/* Returns PyTorch's pool on the device, or HISTORY_NONE if there is none. */
static uint32_t find_pool(const struct study *study, int device)
{
    const struct history *history = &study->history;
    for (uint32_t i = 0; i < history->account_count; i++) {
        const char *pool = study_pool(study, &history->accounts[i]);
        if (torch_is_pool(pool) && history->accounts[i].device == device)
            return i;
    }
    return HISTORY_NONE;
}

/*
 * Finds the share of the card that the pool may take so that a library's request still has room.
 * This request was refused beside the pool. *share is 0 if there is no such share.
 */
static int find_share(double *share, const struct study *study, const struct failure *failure,
                      uint32_t pool, struct err *err)
{
    struct frag frag;
    struct oom oom;
    *share = 0;
    if (failure->account == pool)
        return 0;
    if (oom_explain(&oom, &study->history, failure, err) ||
        frag_at(&frag, &study->history, pool, failure->at.index, err))
        return -1;
    const uint64_t requested_bytes = oom.requested_bytes + GRANULE_BYTES;
    const uint64_t room_bytes = frag.reserved_bytes + oom.device_free_bytes;
    if (oom.device_known && oom.requested_bytes && frag.reserved_known &&
        room_bytes > requested_bytes) {
        const uint64_t percent = (room_bytes - requested_bytes) * 100 / oom.device_total_bytes;
        *share = (double)percent / 100;
    }
    return 0;
}

static void write_setting(struct fix_setting *setting, const struct fix_setting_words *row,
                          const struct torch_setup *setup, double share)
{
    char words[64];
    const char *percent = strchr(row->words, '%');
    if (percent && share <= 0)
        return;
    snprintf(words, sizeof words, "%s", row->words);
    if (percent)
        snprintf(words, sizeof words, "%.*s%.2f", (int)(percent - row->words), row->words, share);
    if (strchr(words, '='))
        snprintf(setting->text, sizeof setting->text, "%s", words);
    else if (!torch_setting_write(setting->text, sizeof setting->text, setup, words, row->since))
        setting->text[0] = '\0';
}

/* --- settings that the model rules out --- */

static bool fails_as_well(const struct whatif_device *device, const struct whatif_run *run,
                          const struct failure *failure)
{
    if (device->recorded.difference.kind != DIFFERENCE_NONE)
        return false;
    return run->failure.at.index != INDEX_NONE ||
           (run->last_same_index != INDEX_NONE && run->last_same_index >= failure->at.index);
}

/* Asks the model about all settings. A setting that the model does not know is not ruled out. */
static void ask_model(struct fix_setting settings[SETTING_COUNT], const struct trace *trace,
                      const struct failure *failure, int device_number)
{
    struct whatif_ask asks[SETTING_COUNT] = {0};
    size_t numbers[SETTING_COUNT], count = 0;
    struct whatif whatif;
    struct err ignored = {0};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (settings[i].text[0] && rows[i].model) {
            asks[count].change = rows[i].model;
            numbers[count++] = i;
        }
    if (!count || whatif_replay(&whatif, trace, asks, count, &ignored))
        return;
    const struct whatif_device *device = whatif.devices[DEVICE_SLOT(device_number)];
    for (size_t i = 0; i < count && device; i++)
        settings[numbers[i]].is_ruled_out = fails_as_well(device, &device->runs[i], failure);
    whatif_release(&whatif);
}

/* --- the whole search --- */

static int find_settings(struct fix_setting settings[SETTING_COUNT], const struct study *study,
                         struct err *err)
{
    const struct history *history = &study->history;
    const struct failure *failure =
        history->failure_count ? &history->failures[history->failure_count - 1] : NULL;
    const int device = failure ? history->accounts[failure->account].device : DEVICE_UNKNOWN;
    const uint32_t pool = failure ? find_pool(study, device) : HISTORY_NONE;
    const struct torch_setup setup = trace_torch_setup(&study->trace);
    double share;
    if (pool == HISTORY_NONE || !torch_obeys_settings(&setup))
        return 0;
    if (find_share(&share, study, failure, pool, err))
        return -1;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        write_setting(&settings[i], &rows[i], &setup, share);
    if (failure->account == pool)
        ask_model(settings, &study->trace, failure, device);
    return 0;
}

int fix_settings_find(struct fix_setting settings[SETTING_COUNT], const char *path, struct err *err)
{
    struct study study;
    memset(settings, 0, SETTING_COUNT * sizeof *settings);
    if (study_open(&study, path, &(struct study_ask){0}, err))
        return -1;
    const int status = find_settings(settings, &study, err);
    trace_close_events(&study.trace);
    study_release(&study);
    return status;
}
