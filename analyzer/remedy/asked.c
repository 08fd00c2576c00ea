/* SPDX-License-Identifier: MIT */
/* Judges a failed request by the requests before it; see asked.h. */
#include "asked.h"

#include "analyzer/allocator/allocator.h"
#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/thresholds/thresholds.h"

/* True if autograd may keep the block. Then its size is that of a layer, and its place allocates
 * for several layers. */
static bool may_be_of_layer(const struct at_moment *at, const struct live_block *block)
{
    return block->part == PART_FORWARD && (block->is_of_graph || !at->tells_graphs);
}

/* True if the place has freed nothing, and autograd may keep its blocks. */
static bool may_be_layers(const struct at_moment *at, const struct lives *lives, uint32_t place)
{
    for (size_t i = 0; i < at->count && !lives_of(lives, place).fall_count; i++)
        if (at->items[i].place == place && may_be_of_layer(at, &at->items[i]))
            return true;
    return false;
}

/* True if the place asked for different sizes, once in each round, while the tensors of all modules
 * that ran once in each round had one size. The batch then had one size, too, and the request
 * follows something else, such as the number of objects in a picture. */
static bool ignores_batch(const struct at_moment *at, const struct lives *lives,
                          const struct place_life *asking)
{
    bool is_seen = false;
    if (asking->births_count < REQUEST_ROUNDS_FEWEST || rising_is_flat(&asking->rising))
        return false;
    for (uint32_t place = 0; place < lives->count; place++) {
        const struct place_life *life = &lives->items[place];
        if (life->births_count != asking->births_count ||
            !torch_is(at->places->items[place].signs, TORCH_module_call))
            continue;
        if (!rising_is_flat(&life->rising))
            return false;
        is_seen = true;
    }
    return is_seen;
}

/* True if the place still holds all blocks that it ever made, and no graph of autograd does. A
 * cache that is replaced layer by layer frees blocks, so it is no second object. */
static bool keeps_all(const struct at_moment *at, const struct lives *lives,
                      const struct live_block *block)
{
    return !lives_of(lives, block->place).fall_count && !may_be_of_layer(at, block) &&
           block->part != PART_BACKWARD && block->part != PART_OPTIMIZER;
}

/* Finds two objects of the line that made the refused request, which is the last block of `at`. */
static void find_generations(struct generations *generations, const struct at_moment *at,
                             const struct lives *lives)
{
    const struct live_block *refused = &at->items[at->count - 1];
    const uint32_t maker = at->places->items[refused->place].maker;
    const struct place_life life = lives_of(lives, maker);
    struct generations found = {.location = at->places->items[maker].location};
    uint64_t older_bytes = 0, beside_bytes = 0;
    if (maker == PLACE_ROOT || !keeps_all(at, lives, refused))
        return;
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        const bool is_before = block->begin_index < life.run_index;
        if (at->places->items[block->place].maker != maker)
            beside_bytes += is_before && block->begin_index > life.earlier_run_index &&
                                    block->part < PART_BACKWARD
                                ? block->size_bytes
                                : 0;
        else if (!is_before)
            found.now_bytes += block->is_refused ? 0 : block->size_bytes;
        else if (keeps_all(at, lives, block))
            *(block->begin_index < life.earlier_run_index ? &older_bytes : &found.before_bytes) +=
                block->size_bytes;
    }
    if (!older_bytes && found.before_bytes >= at->live_bytes / EARLIER_OBJECT_DIVISOR &&
        beside_bytes < found.before_bytes / BESIDE_OBJECT_DIVISOR)
        *generations = found;
}

/* Size of the only live block of the place, whose blocks replace each other; 0: they do not. */
static uint64_t find_replaced(const struct at_moment *at, const struct lives *lives, uint32_t place)
{
    const struct place_life life = lives_of(lives, place);
    if (place == PLACE_ROOT || !life_replaces(&life))
        return 0;
    for (size_t i = 0; i < at->count; i++)
        if (at->items[i].place == place && !at->items[i].is_refused)
            return may_be_of_layer(at, &at->items[i]) ? 0 : at->items[i].size_bytes;
    return 0;
}

/* True if another caller of the place's line asked for more than that. All native stacks count as
 * one line. */
static bool line_asked_for_more(const struct at_moment *at, const struct lives *lives,
                                uint32_t place, uint64_t bytes)
{
    for (uint32_t i = 0; i < at->places->count; i++) {
        const struct place_life life = lives_of(lives, i);
        if (i != place && at->places->items[i].location == at->places->items[place].location &&
            (life.rising.last_bytes > bytes || life.rising.most_before_bytes > bytes))
            return true;
    }
    return false;
}

/* Size of the line's largest request before the last one. 0: the last one is not much larger, or is
 * a small part of the card. */
static uint64_t find_outgrown(const struct at_moment *at, const struct lives *lives, uint32_t place,
                              uint64_t card_bytes)
{
    const struct rising rising = lives_of(lives, place).rising;
    const uint64_t before_bytes = rising.most_before_bytes;
    return place != PLACE_ROOT && before_bytes && card_bytes &&
                   rising.last_bytes > card_bytes / FIRST_REQUEST_DIVISOR &&
                   rising.last_bytes / before_bytes >= OUTGROWN_TIMES &&
                   !line_asked_for_more(at, lives, place, before_bytes)
               ? before_bytes
               : 0;
}

/* Size of the driver's memory for such a request: a pool's new segment, or the request itself. */
static uint64_t driver_bytes(const struct oom *oom, uint64_t bytes)
{
    return oom->asks_for_pool ? allocator_segment_bytes(bytes)
                              : ((bytes + FRAG_GRANULE_BYTES - 1) & ~(FRAG_GRANULE_BYTES - 1));
}

/* Size of the line's largest request before the last one, if it was clearly smaller and the driver
 * would have had enough for it; 0: it was not, or something else than the card is full. */
static uint64_t find_fitting(const struct at_moment *at, const struct lives *lives, uint32_t place,
                             const struct oom *oom)
{
    const struct rising rising = lives_of(lives, place).rising;
    const uint64_t before_bytes = rising.most_before_bytes;
    return place != PLACE_ROOT && before_bytes && oom->device_known &&
                   oom->verdict == OOM_EXHAUSTED &&
                   driver_bytes(oom, before_bytes) <= oom->device_free_bytes &&
                   (double)rising.last_bytes >= (double)before_bytes * MUCH_LARGER_RATIO &&
                   !line_asked_for_more(at, lives, place, before_bytes)
               ? before_bytes
               : 0;
}

/* True if the place makes, copies, loads or moves a module, and nothing has run yet. */
static bool makes_model(const struct at_moment *at, const struct lives *lives, uint32_t place)
{
    const uint64_t signs = at->places->items[place].signs;
    return (torch_is(signs, TORCH_model_making) || torch_is(signs, TORCH_copying) ||
            torch_is(signs, TORCH_loading)) &&
           !lives->bytes_by_part[PART_FORWARD] && !lives->bytes_by_part[PART_BACKWARD] &&
           !lives->bytes_by_part[PART_OPTIMIZER];
}

int asked_find(struct asked *asked, const struct at_moment *at, const struct lives *lives,
               const struct caught *caught, const struct oom *oom, uint64_t card_bytes,
               struct err *err)
{
    const struct failure *failure = oom->failure;
    const uint32_t place = places_of(at->places, failure->event.stack_id, err);
    const uint64_t size_bytes = failure->event.size_bytes, live_bytes = at->live_bytes - size_bytes;
    if (place == PLACE_NONE)
        return -1;
    const struct place_life life = lives_of(lives, place);
    const bool of_model = makes_model(at, lives, place);
    *asked = (struct asked){
        .rising = life.rising,
        .replaced_bytes = find_replaced(at, lives, place),
        .outgrown_bytes = of_model ? 0 : find_outgrown(at, lives, place, card_bytes),
        .fitting_bytes = of_model ? 0 : find_fitting(at, lives, place, oom),
        .ignores_batch = ignores_batch(at, lives, &life),
        .grows = place != PLACE_ROOT &&
                 (rising_goes_on(&life.rising) || rising_doubles(&life.rising)) &&
                 !may_be_layers(at, lives, place),
        .halved_count = caught->count ? caught->halved_count : 0,
        .is_beyond_card = oom->reason == OOM_MORE_THAN_CARD || oom->reason == OOM_MORE_THAN_GIVEN,
        .makes_model = of_model,
        .is_unproven =
            life.births_count < 2 && card_bytes && size_bytes > card_bytes / FIRST_REQUEST_DIVISOR};
    const bool is_tensor = at->history->accounts[failure->account].kind == ACCOUNT_pool;
    if (is_tensor && card_bytes && size_bytes > card_bytes && live_bytes &&
        size_bytes / live_bytes >= ABSURD_TIMES)
        asked->times_live = size_bytes / live_bytes;
    if (!asked->grows)
        find_generations(&asked->generations, at, lives);
    return 0;
}

void asked_learn(struct asked *asked, const struct without *without, uint64_t need_bytes)
{
    for (size_t i = 0; i < without->count; i++) {
        const struct without_question *question = &without->items[i];
        uint32_t count = 0;

        if (question->rule != WITHOUT_HELD || question->most_bytes <= need_bytes / PILE_DIVISOR)
            continue;
        for (uint32_t left = question->iterations; left; left >>= 1)
            count += left & 1;
        asked->piles_up = count >= PILED_ITERATIONS_FEWEST;
    }
}

/* True if the remedy lets go of what is held. */
static bool lets_go(enum remedy_key key)
{
    return key == REMEDY_held_over || key == REMEDY_data_on_cpu || key == REMEDY_no_grad ||
           key == REMEDY_caught;
}

/* True if the remedy makes the request itself smaller. */
static bool shrinks_request(enum remedy_key key)
{
    return key == REMEDY_smaller_batch || key == REMEDY_chunked_loss ||
           key == REMEDY_flash_attention;
}

bool asked_refutes(const struct asked *asked, enum remedy_key key)
{
    if ((asked->piles_up && !lets_go(key)) || (asked->is_beyond_card && !shrinks_request(key)))
        return true;
    if (key == REMEDY_smaller_batch)
        return asked->grows || asked->ignores_batch || asked->halved_count || asked->times_live ||
               asked->is_unproven;
    return asked->grows && (key == REMEDY_checkpoint || key == REMEDY_expandable_segments);
}

/* True if the place has freed nothing, and each of its requests was larger than the one before. */
static bool only_rises(const struct lives *lives, uint32_t place)
{
    const struct place_life life = lives_of(lives, place);
    return place != PLACE_ROOT && rising_is_kept(&life.rising, life.births_count, life.fall_count);
}

static void add_line(struct larger_blocks *larger, const struct live_block *block)
{
    for (size_t i = 0; i < larger->line_count && i < LARGER_LINES; i++)
        if (larger->lines[i].place == block->place)
            return;
    if (larger->line_count < LARGER_LINES)
        larger->lines[larger->line_count] = (struct larger_line){block->place, block->stack_id};
    larger->line_count++;
}

void larger_blocks_find(struct larger_blocks *larger, const struct at_moment *at,
                        const struct lives *lives)
{
    *larger = (struct larger_blocks){0};
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        if (block->is_refused || may_be_of_layer(at, block) || !only_rises(lives, block->place))
            continue;
        larger->bytes += block->size_bytes;
        larger->count++;
        add_line(larger, block);
    }
}
