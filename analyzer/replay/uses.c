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
    free(uses->births);
    *uses = (struct uses){0};
}

static int note_size(const struct cursor *at, enum size_of of, const struct block *block)
{
    struct pair_map *sizes = &at->history->sizes;

    if (block->memory != MEMORY_TENSOR || sizes->count >= SIZES_MAX)
        return 0;
    return pair_map_put(sizes, (uint32_t)of, block->size_bytes, 0, at->err);
}

/* PyTorch rounds sizes up to this. So a tensor with elements of half the size can be half as large,
 * or half as large and half of this. */
enum { ROUNDING_BYTES = 512 };

static bool is_half(const struct history *history, uint64_t bytes)
{
    const struct pair_map *sizes = &history->sizes;

    return pair_map_get(sizes, SIZE_OF_INIT, 2 * bytes) != PAIR_MAP_NONE ||
           pair_map_get(sizes, SIZE_OF_INIT, 2 * bytes - ROUNDING_BYTES) != PAIR_MAP_NONE;
}

static int note_use(const struct cursor *at, uint32_t stack_id, enum stack_use use)
{
    struct history *history = at->history;
    uint8_t *grown = array_reach(history->stack_uses, &history->stack_use_capacity,
                                 &history->stack_use_count, sizeof *grown, stack_id, at->err);

    if (!grown)
        return -1;
    history->stack_uses = grown;
    grown[stack_id] |= (uint8_t)use;
    return 0;
}

static int note_birth(struct uses *uses, const struct cursor *at, const struct block *block,
                      uint32_t *birth)
{
    uint32_t *grown = array_reach(uses->births, &uses->capacity, &uses->count, sizeof *grown,
                                  block->stack_id, at->err);

    if (!grown)
        return -1;
    uses->births = grown;
    *birth = ++grown[block->stack_id];
    if (block->memory != MEMORY_TENSOR)
        return 0;
    const bool half = is_half(at->history, block->size_bytes);
    return note_use(at, block->stack_id, half ? STACK_HAS_TENSOR : STACK_HAS_NO_HALF);
}

static bool is_of_backward(const struct history *history, const struct block *block)
{
    return block->deciding_path != HISTORY_NONE &&
           history->paths[block->deciding_path].rule == PATH_RULE_BACKWARD;
}

int uses_begin(struct uses *uses, const struct cursor *at, const struct spans *spans,
               struct block *block, uint32_t *birth)
{
    const uint32_t stack_id = block->stack_id;

    block->rounds = at->history->rounds_count;
    block->recurred = false;
    block->is_of_framework = inferred_is_certain(&spans->inferred, stack_id);
    *birth = 0;
    if (stack_id && stack_id < at->history->trace->frame_limit &&
        note_birth(uses, at, block, birth))
        return -1;
    return spans->inferred_now == INFERRED_init ? note_size(at, SIZE_OF_INIT, block) : 0;
}

int uses_end(const struct uses *uses, const struct cursor *at, struct block *block, uint32_t birth)
{
    block->rounds = at->history->rounds_count - block->rounds;
    block->recurred = birth && uses->births[block->stack_id] != birth;
    if (!block->outlived || !is_of_backward(at->history, block))
        return 0;
    if (block->forward_stack_id && block->forward_stack_id < at->history->trace->frame_limit &&
        note_use(at, block->forward_stack_id, STACK_IS_TRAINED))
        return -1;
    return note_size(at, SIZE_OF_GRADIENT, block);
}

int uses_finish(const struct cursor *at)
{
    const struct history *history = at->history;

    for (size_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account != HISTORY_NONE &&
            is_of_backward(history, &history->blocks[i]) &&
            note_size(at, SIZE_OF_GRADIENT, &history->blocks[i]))
            return -1;
    return 0;
}
