/* SPDX-License-Identifier: MIT */
/*
 * A thread's cache of stack ids, looked up by a fingerprint of the raw frames. A program mostly
 * allocates at a few hundred places. For a known stack the cache saves merging the frames and
 * finding them in the tree, which costs more than walking the stack.
 *
 *     words of a stack ──► four 64-bit lanes ──► a slot: | lanes | id |   the last one stays
 *
 * All four lanes must agree. Each lane is a chain of bijections, so stacks that differ in one word
 * differ in a lane. Other pairs of stacks have the same fingerprint less than once in 2^64.
 */
#pragma once

#include <stdint.h>
#include <string.h>

enum { FINGERPRINT_LANES = 4, STACK_MEMO_SLOTS = 1024 };

struct fingerprint {
    uint64_t lanes[FINGERPRINT_LANES];
};

static inline void fingerprint_mix(uint64_t *lane, const void *word)
{
    uint64_t mixed;
    memcpy(&mixed, word, sizeof mixed);
    mixed ^= *lane;
    *lane = (mixed << 32 | mixed >> 32) * 0x9e3779b97f4a7c15u;
}

/* Begins a fingerprint with these numbers. They are small, like some of the words that follow. So
 * they are spread over all bits, because a different number and a different word could cancel each
 * other out. */
static inline struct fingerprint fingerprint_begin(const uint64_t numbers[FINGERPRINT_LANES])
{
    const uint64_t nothing = 0;
    struct fingerprint print = {{0}};
    for (unsigned lane = 0; lane < FINGERPRINT_LANES; lane++) {
        fingerprint_mix(&print.lanes[lane], &numbers[lane]);
        fingerprint_mix(&print.lanes[lane], &nothing);
    }
    return print;
}

/* Adds 64-bit words in their order. Their count is part of the fingerprint. */
static inline void fingerprint_add(struct fingerprint *print, const void *words, unsigned count)
{
    struct fingerprint now = *print; /* a copy, so that the loop stores nothing */
    const char *word = words;
    now.lanes[0] += count;
    for (; count >= FINGERPRINT_LANES; count -= FINGERPRINT_LANES)
        for (unsigned lane = 0; lane < FINGERPRINT_LANES; lane++, word += sizeof(uint64_t))
            fingerprint_mix(&now.lanes[lane], word);
    for (unsigned lane = 0; lane < count; lane++, word += sizeof(uint64_t))
        fingerprint_mix(&now.lanes[lane], word);
    *print = now;
}

/* Each thread has one memo. It starts as zero, or as an earlier thread with the same memory left
 * it. */
struct stack_memo {
    struct {
        struct fingerprint print;
        uint32_t id; /* 0: free */
    } slots[STACK_MEMO_SLOTS];
};

/* Returns the id of the stack with this fingerprint; 0: the stack is not in the memo. */
uint32_t stack_memo_find(const struct stack_memo *memo, const struct fingerprint *print);
void stack_memo_put(struct stack_memo *memo, const struct fingerprint *print, uint32_t id);
