/* SPDX-License-Identifier: MIT */
/* Uses of blocks; see uses.h. */
#include "uses.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/util/pair_map.h"

/* A model has far fewer sizes of tensors. The limit bounds the memory for traces whose sizes all
 * differ. */
enum { SIZES_MAX = 65536 };

void uses_release(struct uses *uses)
{
    pair_map_release(&uses->of_backward);
}

static int note_size(const struct cursor *at, enum size_of of, const struct block *block,
                     uint32_t count)
{
    struct pair_map *sizes = &at->history->sizes;
    if (block->memory != MEMORY_TENSOR || sizes->count >= SIZES_MAX)
        return 0;
    return pair_map_put(sizes, (uint32_t)of, block->size_bytes, count, at->err);
}

/* PyTorch rounds sizes up to this. So a tensor with elements of half the size can be half as large,
 * or half as large and half of this. */
enum { ROUNDING_BYTES = 512 };

/* A tensor of more than this can have a block that is larger by up to this, because PyTorch splits
 * no smaller rest off. */
#define REST_BYTES (UINT64_C(1) << 20)
/* The sizes of large tensors are also kept in these units, to look for a range of sizes. */
#define UNIT_BYTES (REST_BYTES / 4)

static uint64_t unit_of(uint64_t bytes)
{
    return (bytes - 1) / UNIT_BYTES;
}

/*
 * True if the block may have a rest, and a tensor of init may be twice as large as the tensor in
 * it. The block of that tensor may have a rest, too.
 *
 *     block of the cast   [ half of a weight |  rest  ]
 *     block in init       [          weight           | rest ]
 */
static bool is_half_with_rest(const struct pair_map *sizes, uint64_t bytes)
{
    if (bytes <= REST_BYTES || bytes > UINT64_MAX / 4)
        return false;
    const uint64_t least = bytes - REST_BYTES, most = unit_of(2 * bytes + REST_BYTES);
    uint64_t unit = unit_of(least > REST_BYTES ? 2 * least : 2 * REST_BYTES + 1);
    while (unit <= most && pair_map_get(sizes, SIZE_OF_INIT_UNITS, unit) == PAIR_MAP_NONE)
        unit++;
    return unit <= most;
}

static bool is_half(const struct history *history, uint64_t bytes)
{
    const struct pair_map *sizes = &history->sizes;
    return pair_map_get(sizes, SIZE_OF_INIT, 2 * bytes) != PAIR_MAP_NONE ||
           pair_map_get(sizes, SIZE_OF_INIT, 2 * bytes - ROUNDING_BYTES) != PAIR_MAP_NONE ||
           is_half_with_rest(sizes, bytes);
}

static int note_init(const struct cursor *at, const struct block *block)
{
    struct pair_map *sizes = &at->history->sizes;
    if (note_size(at, SIZE_OF_INIT, block, 0))
        return -1;
    if (block->memory != MEMORY_TENSOR || block->size_bytes <= REST_BYTES)
        return 0;
    return pair_map_put(sizes, SIZE_OF_INIT_UNITS, unit_of(block->size_bytes), 0, at->err);
}

static struct stack_births *births_of(const struct cursor *at, uint32_t stack_id)
{
    struct history *history = at->history;
    if (ARRAY_REACH(history->stacks, history->stack_capacity, history->stack_count, stack_id,
                    at->err))
        return NULL;
    return &history->stacks[stack_id];
}

static int note_birth(const struct cursor *at, const struct block *block, uint32_t *birth)
{
    struct stack_births *births = births_of(at, site_stack(block->site_id));
    if (!births)
        return -1;
    *birth = ++births->count;
    if (births->count == 1)
        births->first_round = block->birth_round;
    births->rounds_count += births->count == 1 || births->last_round != block->birth_round;
    births->last_round = block->birth_round;
    if (block->memory == MEMORY_TENSOR && !(births->uses & STACK_HAS_NO_HALF))
        births->uses |=
            is_half(at->history, block->size_bytes) ? STACK_HAS_TENSOR : STACK_HAS_NO_HALF;
    return 0;
}

/* --- gradients --- */

/* A tensor that backward made. It is a gradient if it outlives backward. */
static bool may_be_gradient(const struct history *history, const struct block *block)
{
    return block->memory == MEMORY_TENSOR && block_is_of_backward(history, block);
}

/* Counts the live tensors of that size that may be gradients. */
static int count_size(struct uses *uses, const struct cursor *at, const struct block *block,
                      int change)
{
    struct pair_map *sizes = &uses->of_backward;
    const uint32_t count = pair_map_get(sizes, 0, block->size_bytes);
    if (count == PAIR_MAP_NONE && (change < 0 || sizes->count >= SIZES_MAX))
        return 0;
    return pair_map_put(sizes, 0, block->size_bytes,
                        (count == PAIR_MAP_NONE ? 0 : count) + (uint32_t)change, at->err);
}

/* Notes a gradient. The other tensors of its size are gradients too, because backward is over and
 * its temporaries are gone. */
static int note_gradient(const struct uses *uses, const struct cursor *at,
                         const struct block *block)
{
    const uint32_t live = pair_map_get(&uses->of_backward, 0, block->size_bytes);
    const uint32_t most = pair_map_get(&at->history->sizes, SIZE_OF_GRADIENT, block->size_bytes);
    if (live == PAIR_MAP_NONE || (most != PAIR_MAP_NONE && most >= live))
        return 0;
    return note_size(at, SIZE_OF_GRADIENT, block, live);
}

/* --- lives --- */

int uses_begin(struct uses *uses, const struct cursor *at, struct block *block, uint32_t *birth)
{
    const uint32_t stack_id = site_stack(block->site_id);
    block->birth_round = at->history->rounds_count;
    block->recurred = false;
    block->is_of_framework = inferred_is_certain(&at->spans->inferred, stack_id);
    *birth = 0;
    if (stack_id && stack_id < at->history->trace->frame_limit && note_birth(at, block, birth))
        return -1;
    if (may_be_gradient(at->history, block) && count_size(uses, at, block, 1))
        return -1;
    return at->spans->inferred_now == INFERRED_init ? note_init(at, block) : 0;
}

int uses_end(struct uses *uses, const struct cursor *at, struct block *block, uint32_t birth)
{
    const struct history *history = at->history;
    block->end_round = history->rounds_count;
    block->recurred = birth && history->stacks[site_stack(block->site_id)].count != birth;
    if (!may_be_gradient(history, block))
        return 0;
    if (block->outlived && note_gradient(uses, at, block))
        return -1;
    const uint32_t forward = site_forward_stack(block->site_id);
    if (block->outlived && forward && forward < history->trace->frame_limit) {
        struct stack_births *births = births_of(at, forward);
        if (!births)
            return -1;
        births->uses |= STACK_IS_TRAINED;
    }
    return count_size(uses, at, block, -1);
}

int uses_finish(const struct uses *uses, const struct cursor *at)
{
    const struct history *history = at->history;
    for (size_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account != HISTORY_NONE &&
            may_be_gradient(history, &history->blocks[i]) &&
            note_gradient(uses, at, &history->blocks[i]))
            return -1;
    return 0;
}
