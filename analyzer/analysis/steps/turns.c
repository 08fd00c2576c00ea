/* SPDX-License-Identifier: MIT */
/* Who closes a turn; see turns.h. */
#include "turns.h"

enum { FEW_CLOSES = 8, SHORTEST_GAP = 2, LONGEST_GAP = 8, SAME_GAPS = 2 };

/* Its number; turns->count: it is new. */
static uint32_t find_turn(const struct turns *turns, const struct span *span)
{
    uint32_t number = 0;

    while (number < turns->count && (turns->items[number].path != span->path ||
                                     turns->items[number].caller.rank != span->caller.rank ||
                                     turns->items[number].caller.hash != span->caller.hash))
        number++;
    return number;
}

static enum turn_end close_turn(struct turns *turns, uint32_t number, enum turn_end how)
{
    if (number != turns->closing)
        turns->follows_others = how == TURN_CLOSES_ANEW;
    turns->closing = number;
    turns->others_count = turns->same_count = 0;
    turns->closes_count++;
    return how;
}

/* Whether it comes regularly, and less often than the one that closes. */
static bool comes_between(const struct turns *turns, struct turn *turn)
{
    const uint64_t gap = turns->closes_count - turn->closes_before;

    turn->same_gaps = gap == turn->gap ? turn->same_gaps + 1 : 1;
    turn->gap = gap;
    turn->closes_before = turns->closes_count;
    return gap >= SHORTEST_GAP && gap <= LONGEST_GAP && turn->same_gaps >= SAME_GAPS;
}

static enum turn_end end_new(struct turns *turns, const struct span *span)
{
    const uint32_t number = turns->count++;

    turns->items[number] = (struct turn){
        .path = span->path, .caller = span->caller, .closes_before = turns->closes_count};
    if (!number)
        return close_turn(turns, number, TURN_CLOSES);
    if (turns->closes_count > FEW_CLOSES)
        return TURN_GOES_ON;
    turns->most_others_count = turns->ends_count;
    return close_turn(turns, number, TURN_CLOSES_ANEW);
}

/* Whether so many ends in a row are more than used to come. */
static bool is_long(const struct turns *turns, uint64_t ends_count)
{
    return ends_count > 2 * turns->most_others_count + 2;
}

static enum turn_end end_closing(struct turns *turns)
{
    if (turns->follows_others && !turns->others_count) {
        if (!is_long(turns, ++turns->same_count))
            return TURN_GOES_ON;
        turns->follows_others = false;
    }
    if (turns->others_count > turns->most_others_count)
        turns->most_others_count = turns->others_count;
    return close_turn(turns, turns->closing, TURN_CLOSES);
}

static enum turn_end end_other(struct turns *turns, uint32_t number)
{
    struct turn *turn = &turns->items[number];

    if (comes_between(turns, turn)) {
        turns->most_others_count = turn->gap;
        return close_turn(turns, number, TURN_CLOSES_ANEW);
    }
    if (!is_long(turns, ++turns->others_count))
        return TURN_GOES_ON;
    turns->most_others_count = 0;
    return close_turn(turns, number, TURN_CLOSES);
}

enum turn_end turns_end(struct turns *turns, const struct span *span)
{
    const uint32_t number = find_turn(turns, span);
    enum turn_end how = TURN_GOES_ON;

    if (number == turns->count && number < TURNS_MAX)
        how = end_new(turns, span);
    else if (number < turns->count)
        how = number == turns->closing ? end_closing(turns) : end_other(turns, number);
    turns->ends_count++;
    return how;
}
