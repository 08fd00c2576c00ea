/* SPDX-License-Identifier: MIT */
/* The worst leak of each kind of memory; see findings.h. */
#include "findings.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/util/text.h"

static const char *const kind_names[] = {
    [OF_CARD] = "device memory",
    [OF_MANAGED] = "managed memory",
    [OF_PINNED] = "pinned host memory",
};

const char *findings_kind_name(size_t kind)
{
    return kind_names[kind];
}

static size_t kind_of(const struct account *account)
{
    return account_is_of_layer(account)       ? OF_CARD
           : account->kind == ACCOUNT_managed ? OF_MANAGED
                                              : OF_PINNED;
}

/* A leak comes before an unknown verdict. Among several leaks, the one that fills its card first is
 * worse; if that is not known of both, the steeper one. */
static bool is_worse(const struct account_leak *found, const struct account_leak *than)
{
    const struct leak *leak = &found->leak, *other = &than->leak;
    if (leak->verdict != other->verdict)
        return leak->verdict > other->verdict;
    if (found->knows_steps_left && than->knows_steps_left && found->steps_left != than->steps_left)
        return found->steps_left < than->steps_left;
    return leak->slope + leak->enlarged_slope > other->slope + other->enlarged_slope;
}

/* Takes the account if it is worse than *worst. A pool or driver account that is not its device's
 * leading one counts only if it leaks or grows. */
static int take_if_worse(struct worst *worst, const struct study *study, uint32_t account,
                         bool always_counts, struct err *err)
{
    struct account_leak found;
    if (!study->history.accounts[account].has_begun)
        return 0;
    if (account_leak_find(&found, study, account, err))
        return -1;
    if ((!always_counts && found.leak.verdict < LEAK_GROWS) ||
        (worst->account != HISTORY_NONE && !is_worse(&found, &worst->found))) {
        account_leak_release(&found);
        return 0;
    }
    account_leak_release(&worst->found);
    *worst = (struct worst){found, account};
    return 0;
}

void findings_release(struct findings *findings)
{
    for (size_t kind = 0; kind < WORST_KINDS; kind++)
        account_leak_release(&findings->items[kind].found);
}

/* A buffer beside the card's memory that gets larger is named only if that shows. */
static bool counts_beside(const struct leak *leak)
{
    return leak->verdict == LEAK_FOUND || (leak->verdict == LEAK_GROWS && !leak->is_small);
}

/* Memory beside the card's comes first only if it grows, or if the card's was not used. */
static void choose_first(struct findings *findings)
{
    for (size_t kind = 0; kind < WORST_KINDS; kind++) {
        const struct worst *first = &findings->items[findings->first];
        const struct worst *other = &findings->items[kind];
        if (other->account == HISTORY_NONE)
            continue;
        if (first->account == HISTORY_NONE ||
            (counts_beside(&other->found.leak) && is_worse(&other->found, &first->found)))
            findings->first = kind;
    }
}

int findings_find(struct findings *findings, const struct study *study, const struct view *view,
                  struct err *err)
{
    const struct history *history = &study->history;
    *findings = (struct findings){0};
    for (size_t kind = 0; kind < WORST_KINDS; kind++)
        findings->items[kind].account = HISTORY_NONE;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        uint32_t accounts[STUDY_ACCOUNTS_MAX];
        const size_t count = study_leak_accounts(study, use, view, accounts, STUDY_ACCOUNTS_MAX);

        for (size_t n = 0; n < count && (view->device < 0 || view->device == use->device); n++) {
            const size_t kind = kind_of(&history->accounts[accounts[n]]);
            if (take_if_worse(&findings->items[kind], study, accounts[n], n == 0 || kind != OF_CARD,
                              err)) {
                findings_release(findings);
                return -1;
            }
        }
    }
    choose_first(findings);
    return 0;
}

/* --- texts --- */

const char *findings_layer_text(char out[FINDINGS_LAYER_BYTES], const struct study *study,
                                uint32_t account)
{
    const struct history *history = &study->history;
    const struct account *own = &history->accounts[account];
    const uint32_t leading = history_device(history, own->device)->leading;
    char name[PAGE_LAYER_BYTES];
    *out = 0;
    if (!account_is_of_layer(own))
        snprintf(out, FINDINGS_LAYER_BYTES, " in %s", kind_names[kind_of(own)]);
    else if (account != leading)
        snprintf(out, FINDINGS_LAYER_BYTES, " in the %s, outside the %s",
                 own->kind == ACCOUNT_device ? "driver's memory" : study_pool(study, own),
                 page_layer_name(study, &history->accounts[leading], name));
    return out;
}

const char *findings_kinds_text(char out[KINDS_TEXT_BYTES], uint64_t *flat_since,
                                const struct findings *findings)
{
    size_t count = 0, seen = 0;
    struct text text;
    text_init_in(&text, out, KINDS_TEXT_BYTES);
    text_clear(&text);
    *flat_since = 0;
    for (size_t kind = 0; kind < WORST_KINDS; kind++) {
        const struct worst *worst = &findings->items[kind];
        seen += worst->account != HISTORY_NONE && kind != OF_CARD;
        if (worst->account == HISTORY_NONE || worst->found.leak.verdict != LEAK_NONE)
            continue;
        text_addf(&text, "%s%s", count++ ? " and " : " of ", kind_names[kind]);
        if (worst->found.growth.flat_since > *flat_since)
            *flat_since = worst->found.growth.flat_since;
    }
    if (!seen)
        text_clear(&text);
    return out;
}

/* Writes a number of steps with two digits, because the forecast is no more precise: "900",
 * "16,000", "6.5 million". */
static const char *about_text(char out[32], double steps)
{
    double unit = 1;
    while (steps >= 100 * unit)
        unit *= 10;
    steps = floor(steps / unit) * unit;
    if (steps >= 1e6)
        snprintf(out, 32, "%.2g million", steps / 1e6);
    else if (steps >= 1e3)
        snprintf(out, 32, "%.0f,%03.0f", floor(steps / 1e3), fmod(steps, 1e3));
    else
        snprintf(out, 32, "%.0f", steps);
    return out;
}

const char *findings_round_word(const struct account_leak *found)
{
    return account_leak_is_afterwards(found) ? "round" : "step";
}

int findings_say_future(struct opening *opening, const struct account_leak *found)
{
    char about[32];
    if (!found->knows_steps_left)
        return 1;
    return found->steps_left < 1
               ? page_join(opening, VERDICT_who, "the card is full")
               : page_join(opening, VERDICT_who, "the card is full after about %s more %ss",
                           about_text(about, found->steps_left), findings_round_word(found));
}
