/* SPDX-License-Identifier: MIT */
/* The cause of a leak, by signs; see leak_signs.h. */
#include "leak_signs.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

/* True unless a walk found a holder of none of these kinds, which blanks separate. */
static bool may_be_held_by(const struct leak_evidence *of, const char *kinds)
{
    const size_t length = of->holder ? strlen(of->holder) : 0;
    for (const char *kind = kinds; length; kind += strspn(kind, " ")) {
        const size_t end = strcspn(kind, " ");
        if (!end)
            return false;
        if (end == length && !strncmp(kind, of->holder, length))
            return true;
        kind += end;
    }
    return true;
}

/* True if the holder has an item for at least every second block that each call stack keeps. */
static bool keeps_one_of_each(const struct leak_evidence *of)
{
    return of->held.items_count > 1 && 2 * of->held.items_count * of->stacks >= of->most_live_count;
}

const struct leak_sign *leak_sign_of(const struct leak_evidence *of)
{
    if (of->slope <= 0)
        return NULL; /* no call stack grows by itself */
    if (of->is_beside && of->has_python)
        return NULL; /* the signs are about tensors of the card */
#define SIGN(name, condition, why, action)                                                         \
    static const struct leak_sign name = {#name, why, action};                                     \
    if (condition)                                                                                 \
        return &name;
#include "leak_signs.def"
    return NULL;
}

/* --- the steepest call stack --- */

/* True for the frame that calls the forward of a torch.autograd.Function. */
static bool applies_function(const struct symbol_frame *frame)
{
    return torch_is(frame->means, TORCH_autograd_function);
}

static bool is_forward(const struct symbol_frame *frame)
{
    return !strcmp(frame->kind, "python") && frame->role == ROLE_program &&
           torch_is(frame->means, TORCH_forward);
}

static int read_stack(struct leak_evidence *evidence, struct symbols *symbols, uint32_t stack_id,
                      struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    bool after_forward = false;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0) {
        const bool is_python = !strcmp(frame.kind, "python");
        evidence->in_function |= after_forward && applies_function(&frame);
        evidence->has_python |= is_python;
        after_forward = is_forward(&frame) || (after_forward && !is_python);
    }
    return status;
}

/* True if each block was larger than the one before and all were kept, but for one at most. */
static bool keeps_each_larger(const struct site_blocks *blocks)
{
    const uint64_t frees_count = blocks->frees_count > 1 ? blocks->frees_count : 0;
    return rising_is_kept(&blocks->sizes, blocks->births_count, frees_count);
}

/* --- all call stacks of the cause --- */

/* The growth that belongs to the cause. */
struct cause_growth {
    bool *rows;       /* by row of the blame */
    uint64_t *stacks; /* by stack id: blocks that a step makes there; 0: no site belongs to it */
};

static void cause_release(struct cause_growth *cause)
{
    free(cause->rows);
    free(cause->stacks);
}

static bool is_of_cause(const struct cause_growth *cause, const struct account_leak *found,
                        const struct growing *site)
{
    return cause->rows[blame_of(&found->blame, site->site_id)->row];
}

/* Counts the blocks that a step makes at each call stack, at all its sites. */
static void count_births(struct cause_growth *cause, const struct study *study, uint32_t account,
                         const struct account_leak *found)
{
    const struct growth_watch *watch =
        account_leak_is_afterwards(found) ? &study->afterwards : &study->growth;
    const struct account_ends *own = &watch->accounts[account];
    for (size_t i = 0; i < own->count; i++) {
        const uint64_t births_count = own->sites[i].blocks.births_count;
        uint64_t *blocks = &cause->stacks[site_stack(own->sites[i].site_id)];
        if (*blocks && births_count)
            *blocks += (births_count - 1) / found->growth.ends_count;
    }
}

static int cause_find(struct cause_growth *cause, const struct study *study, uint32_t account,
                      const struct account_leak *found, struct err *err)
{
    cause->rows = array_new(found->blame.count + 1, sizeof *cause->rows, err);
    cause->stacks = array_new(study->trace.frame_limit + 1, sizeof *cause->stacks, err);
    if (!cause->rows || !cause->stacks) {
        cause_release(cause);
        return -1;
    }
    for (size_t i = 0; i < found->growing.count; i++)
        cause->rows[found->growing.items[i].blamed->row] = found->growing.items[i].is_of_cause;
    for (size_t i = 0; i < found->growth.count; i++) {
        const struct growing *site = &found->growth.items[i];
        cause->stacks[site_stack(site->site_id)] |= is_of_cause(cause, found, site);
    }
    count_births(cause, study, account, found);
    return 0;
}

/* Sums the sites whose graph is kept. The site with the fewest births is born once per round. */
struct graph_sums {
    double went_back_slope;
    const struct growing *seldomest;
};

static void add_graph(struct leak_evidence *evidence, struct graph_sums *sums,
                      const struct growing *site)
{
    const struct site_blocks *blocks = site->blocks;
    evidence->graph_slope += site->line.slope;
    evidence->graph_stacks++;
    sums->went_back_slope += blocks->went_back ? site->line.slope : 0;
    if (!sums->seldomest || blocks->births_count < sums->seldomest->blocks->births_count)
        sums->seldomest = site;
}

static void add_site(struct leak_evidence *evidence, struct graph_sums *sums,
                     const struct growing *site)
{
    const struct site_blocks *blocks = site->blocks;
    evidence->slope += site->line.slope;
    evidence->is_of_backward |= blocks->backward_births_count > 0;
    if (blocks->recorded_births_count * 2 > blocks->births_count)
        evidence->gradient_slope += site->line.slope;
    evidence->stacks++;
    evidence->births_count += blocks->births_count;
    evidence->frees_count += blocks->frees_count;
    evidence->most_live_count += blocks->most_live_count;
    if (blocks->graph_births_count * 2 > blocks->births_count)
        add_graph(evidence, sums, site);
}

/* Sums what the call stacks held at the peak. */
static void add_held(struct leak_evidence *evidence, const struct study *study, uint32_t account,
                     const uint64_t *stacks)
{
    const uint64_t peak_index = study->history.accounts[account].peak.index;
    struct live_walk walk = live_walk_begin(&study->history, account, peak_index);
    const struct block *block;
    while ((block = live_walk_next(&walk))) {
        if (!stacks[site_stack(block->site_id)])
            continue;
        evidence->memory = (enum memory_kind)block->memory;
        evidence->live_bytes += block->size_bytes;
        if (categories_of(&study->categories, block) == CATEGORY_parameters)
            evidence->parameter_bytes += block->size_bytes;
        if (block->free_failed)
            evidence->unfreed_bytes += block->size_bytes;
    }
}

/* Returns the steepest call stack; NULL: there is none. */
static const struct growing *add_sites(struct leak_evidence *evidence,
                                       const struct account_leak *found,
                                       const struct cause_growth *cause)
{
    const struct growing *steepest = NULL;
    struct graph_sums sums = {0};
    for (size_t i = 0; i < found->growth.count; i++) {
        const struct growing *site = &found->growth.items[i];
        if (!is_of_cause(cause, found, site))
            continue;
        steepest = steepest ? steepest : site;
        add_site(evidence, &sums, site);
    }
    if (sums.seldomest) {
        const struct site_blocks *blocks = sums.seldomest->blocks;
        evidence->goes_back = blocks->fresh_births_count * 2 > sums.seldomest->rises->count;
        evidence->has_rounds = blocks->fresh_births_count * 2 > blocks->births_count;
        evidence->went_back = sums.went_back_slope * 2 > evidence->graph_slope;
        evidence->keeps_all = blocks->most_live_count * 4 >= blocks->births_count * 3;
    }
    return steepest;
}

/* Finds what keeps most of the blocks, from the walk over Python's objects at which variables held
 * most of them. */
static int find_holder(struct leak_evidence *evidence, const struct study *study, uint32_t account,
                       const uint64_t *stacks, struct err *err)
{
    const struct held_ask ask = {.account = account,
                                 .index = study->history.last.index,
                                 .is_of_walk = true,
                                 .takes = stacks};
    struct held_sums sums;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    struct held_sum outer;
    const struct held_sum *most = held_sums_most(&sums);
    if (held_sums_outer(&outer, &study->trace, &sums) && (!most || outer.bytes > most->bytes)) {
        most = &outer;
        evidence->attribute = held_sums_attribute(&study->trace, &sums, &outer);
    }
    if (most) {
        evidence->held = *most;
        evidence->holder = most->holder->kind;
        evidence->second = held_sums_second(&study->trace, &sums, most);
        evidence->walked_bytes = sums.bytes;
        evidence->walk = sums.at;
    }
    held_sums_release(&sums);
    return 0;
}

int leak_evidence_find(struct leak_evidence *evidence, const struct study *study, uint32_t account,
                       const struct account_leak *found, struct err *err)
{
    const struct account *own = &study->history.accounts[account];
    struct cause_growth cause;
    *evidence = (struct leak_evidence){.is_python = study->trace.location_limit > 0,
                                       .has_backward = study_has_backward(study),
                                       .may_go_back = study->history.failures_in_all > 0 &&
                                                      !study_has_backward(study)};
    if (cause_find(&cause, study, account, found, err))
        return -1;
    evidence->is_beside = !account_is_of_layer(own);
    evidence->is_pytorch = torch_is_pool(study_pool(study, own));
    evidence->tells_graphs =
        study->growth.has_graphs || trace_tells_autograd(&study->trace) || !evidence->has_backward;
    const struct growing *steepest = add_sites(evidence, found, &cause);
    int status = 0;
    if (steepest) {
        evidence->collapses = steepest->sweeps->at.count;
        evidence->outgrows = keeps_each_larger(steepest->blocks);
        evidence->are_anywhere = sweeps_are_anywhere(steepest->sweeps);
        add_held(evidence, study, account, cause.stacks);
        status = find_holder(evidence, study, account, cause.stacks, err);
        if (!status)
            status = read_stack(evidence, study->symbols, site_stack(steepest->site_id), err);
    }
    cause_release(&cause);
    return status < 0 ? -1 : 0;
}
