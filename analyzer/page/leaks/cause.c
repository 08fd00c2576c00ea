/* SPDX-License-Identifier: MIT */
/* The cause of a leak, in sentences; see cause.h. */
#include "cause.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/page/holders/words.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"

int cause_say(struct opening *opening, const struct leak_sign *sign)
{
    return sign && page_say(opening, VERDICT_why, "%s.", sign->why) < 0 ? -1 : 1;
}

/* Returns how many blocks more a step keeps that raises the bytes. 0: not the same number in each,
 * or not known, because sizes differ. */
static uint64_t blocks_of_rise(const struct account_leak *found)
{
    uint64_t count = 0;
    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        const struct rising *sizes = &row->first->blocks->sizes;
        if (!row->is_of_cause)
            continue;
        if (row->stack_count > 1 || sizes->rises_count || sizes->falls_count ||
            !sizes->first_bytes || row->rise_bytes < (double)sizes->first_bytes)
            return 0;
        const double blocks = row->rise_bytes / (double)sizes->first_bytes;
        if (blocks != floor(blocks))
            return 0;
        count += (uint64_t)blocks;
    }
    return count;
}

int cause_say_count(struct opening *opening, const struct account_leak *found,
                    const struct leak_evidence *evidence)
{
    const bool are_all_kept = evidence->most_live_count == evidence->births_count;
    const bool is_hook = evidence->holder && !strcmp(evidence->holder, "hook");
    const uint64_t blocks = blocks_of_rise(found);
    char every[48] = "", count[48] = "";
    if (!evidence->holder || holder_is_garbage(&evidence->held) ||
        verdict_find(&opening->verdict, VERDICT_why) != SIZE_MAX)
        return 1;
    if (found->rise_steps > 1)
        snprintf(every, sizeof every, " every %" PRIu64 " steps", found->rise_steps);
    else
        snprintf(every, sizeof every, " in each %s", findings_round_word(found));
    snprintf(count, sizeof count, "more blocks");
    if (blocks)
        snprintf(count, sizeof count, "%" PRIu64 " block%s more", blocks, blocks == 1 ? "" : "s");
    const char *are = blocks == 1 ? "is" : "are";
    if (are_all_kept)
        return page_say(opening, VERDICT_why,
                        "None of its blocks is freed while others are made, and %s %s kept%s.",
                        count, are, every);
    return page_say(opening, VERDICT_why, "Some of its blocks are freed, and %s %s kept%s%s.",
                    count, are, every,
                    is_hook ? "; every hook that is still registered runs again" : "");
}

int cause_say_holder(struct opening *opening, const struct study *study,
                     const struct leak_evidence *evidence)
{
    const struct held_sum *attribute = &evidence->attribute, *second = &evidence->second;
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES];
    if (!evidence->holder)
        return 1;
    if (page_say_holder(opening, study, &evidence->held, evidence->walked_bytes, evidence->walk) <
        0)
        return -1;
    if (attribute->holder)
        return page_join(opening, VERDICT_who,
                         "%s of it by attributes of the items, the largest %s%s",
                         BYTES_TEXT(attribute->bytes), holder_name(name, &study->trace, attribute),
                         holder_place(place, &study->trace, attribute));
    if (second->holder)
        return page_say(opening, VERDICT_who, "%s of the rest is kept by %s%s.",
                        BYTES_TEXT(second->bytes), holder_name(name, &study->trace, second),
                        holder_place(place, &study->trace, second));
    return 1;
}

/* At the end, what the program kept until then is garbage, too. */
static bool is_of_end(const struct walk_blocks *walk)
{
    return !strcmp(walk->walk->reason, "end");
}

static const struct walk_blocks *last_running_walk(const struct holders *holders)
{
    for (size_t i = holders->count; i; i--)
        if (!is_of_end(&holders->walks[i - 1]))
            return &holders->walks[i - 1];
    return NULL;
}

int cause_say_garbage(struct opening *opening, const struct study *study, uint32_t account,
                      struct err *err)
{
    const struct walk_blocks *walk = last_running_walk(&study->holders);
    const struct held_ask ask = {
        .account = account, .index = walk ? walk->at.index : 0, .is_of_walk = true};
    struct held_sums sums;
    int status = 1;
    if (!walk)
        return 1;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    const struct held_sum *most = held_sums_most(&sums);
    /* The walk at the end may be at the same event as the last one before. */
    if (most && !is_of_end(sums.at) && holder_is_garbage(most))
        status = page_say_holder(opening, study, most, sums.bytes, sums.at) < 0
                     ? -1
                     : page_say(opening, VERDICT_do, "%s", holder_action(most));
    held_sums_release(&sums);
    return status;
}

/* A sign that holds although the holder is known tells more than the holder's kind. Attributes can
 * be dropped although the container needs its items. */
int cause_say_action(struct opening *opening, const struct leak_sign *sign,
                     const struct leak_evidence *evidence)
{
    const char *action = sign                         ? sign->action
                         : evidence->attribute.holder ? holder_action(&evidence->attribute)
                         : evidence->holder           ? holder_action(&evidence->held)
                                                      : NULL;
    return action ? page_say(opening, VERDICT_do, "%s", action) : 1;
}

/* The function that gives back memory beside the card's; NULL: not known. */
static const char *release_of(enum memory_kind memory)
{
    switch (memory) {
    case MEMORY_PINNED:
        return "cudaFreeHost";
    case MEMORY_REGISTERED:
        return "cudaHostUnregister";
    case MEMORY_MANAGED:
        return "cudaFree";
    default:
        return NULL;
    }
}

int cause_say_release(struct opening *opening, const struct leak_evidence *evidence)
{
    if (!evidence->is_beside || evidence->slope <= 0 ||
        evidence->unfreed_bytes * 2 > evidence->live_bytes)
        return 1;
    if (evidence->has_python)
        return page_say(opening, VERDICT_do,
                        "Drop what keeps the buffers of this line, or use one buffer again.");
    const char *release = release_of(evidence->memory);
    return release ? page_join(opening, VERDICT_do, "%s gives this memory back", release) : 1;
}
