/* SPDX-License-Identifier: MIT */
/* Finds the ends of steps; see step_ends.h. */
#include "step_ends.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *step_end_text(enum step_end kind)
{
    static const char *const texts[] = {
#define KIND(name, text) text,
        STEP_END_KINDS(KIND)
#undef KIND
    };
    return kind < STEP_ENDS ? texts[kind] : NULL;
}

/* The strongest kind whose count is not 0. */
static enum step_end strongest(const uint64_t counts[STEP_ENDS])
{
    int kind = 0;
    while (kind < STEP_ENDS && !counts[kind])
        kind++;
    return (enum step_end)kind;
}

enum step_end step_ends_kind(const struct step_ends *ends)
{
    return strongest(ends->counts);
}

enum step_end step_ends_begun(const struct step_ends *ends)
{
    return strongest(ends->opened_counts);
}

static void note_backward(struct step_ends *ends)
{
    const uint64_t most = ends->most_backward_count;
    /* One optimizer alone may be one that allocates only once. */
    const uint64_t bound = ends->optimizer_count == 1 ? most : 2 * most + 2;

    if (++ends->backward_count <= bound || step_ends_kind(ends) != STEP_END_INFERRED_OPTIMIZER)
        return;
    ends->counts[STEP_END_INFERRED_OPTIMIZER] = 0;
    ends->has_given_way = true;
}

static void note_optimizer(struct step_ends *ends)
{
    if (ends->backward_count > ends->most_backward_count)
        ends->most_backward_count = ends->backward_count;
    ends->backward_count = 0;
    ends->optimizer_count++;
}

/* span NULL: the program marked the end of a step. */
static enum step_end count_end(struct step_ends *ends, enum step_end kind, const struct span *span)
{
    if (kind == STEP_END_INFERRED_BACKWARD)
        note_backward(ends);
    else if (kind == STEP_END_INFERRED_OPTIMIZER)
        note_optimizer(ends);
    if (kind == STEP_END_INFERRED_OPTIMIZER && (ends->is_without_optimizer || ends->has_given_way))
        return STEP_ENDS;
    if (kind > step_ends_kind(ends) || kind == STEP_ENDS)
        return STEP_ENDS;
    if (!ends->counts[kind])
        ends->cycle = (struct phase_cycle){0};
    const bool takes_turns = span && kind != STEP_END_NAMED && !ends->is_sequence;
    switch (takes_turns ? phase_cycle_end(&ends->cycle, span) : CYCLE_CLOSES) {
    case CYCLE_GOES_ON:
        return STEP_ENDS;
    case CYCLE_CLOSES_ANEW:
        ends->counts[kind] = 0;
        break;
    case CYCLE_CLOSES:
        break;
    }
    ends->begun_count += !ends->counts[kind]++;
    ends->last.is_cut = false;
    for (int weaker = (int)kind + 1; weaker < STEP_ENDS; weaker++)
        ends->counts[weaker] = 0;
    return kind;
}

/* True for "step", "Iteration", "step 17", "ProfilerStep#4". */
static bool names_step(const char *name)
{
    static const char *const words[] = {"step", "iteration", "iter", "ProfilerStep"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (strncasecmp(name, words[i], length))
            continue;
        const char *rest = name + length + strspn(name + length, " _#:-");
        if (!rest[strspn(rest, "0123456789")])
            return true;
    }
    return false;
}

/* True if the name begins with the word: "Optimizer.step#SGD.step" begins with "optimizer",
 * "optimizers" does not. */
static bool begins_with_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    return !strncasecmp(name, word, length) && !isalnum((unsigned char)name[length]);
}

static enum step_end kind_of_path(const struct path *path)
{
    const bool is_inferred = path->source == PHASE_SOURCE_INFERRED;
    if (names_step(path->name))
        return STEP_END_NAMED;
    if (begins_with_word(path->name, "optimizer"))
        return is_inferred ? STEP_END_INFERRED_OPTIMIZER : STEP_END_OPTIMIZER;
    if (begins_with_word(path->name, "backward"))
        return is_inferred ? STEP_END_INFERRED_BACKWARD : STEP_END_BACKWARD;
    return begins_with_word(path->name, "forward") && !is_inferred ? STEP_END_FORWARD : STEP_ENDS;
}

/* True if a phase around this phase has the same kind. In this case this phase ends no step,
 * because all modules of a model may be named "forward". */
static bool is_inside_its_kind(const struct history *history, uint32_t path, enum step_end kind)
{
    while ((path = history->paths[path].parent) != HISTORY_NONE)
        if (kind_of_path(&history->paths[path]) == kind)
            return true;
    return false;
}

static void note_clipping(struct clippings *clippings, const struct span *span)
{
    const uint32_t caller = span->callers[CALLER_SOME];
    if (!clippings->caller)
        clippings->caller = caller;
    if (!caller || caller != clippings->caller)
        return;
    if (span->callers[CALLER_KNOWN])
        clippings->with_step_count++;
    else
        clippings->alone_count++;
}

/* True for a phase that only clips the gradients of a micro batch. */
static bool is_micro(const struct step_ends *ends, const struct span *span)
{
    return ends->micro_caller && span->callers[CALLER_SOME] == ends->micro_caller &&
           !span->callers[CALLER_KNOWN] &&
           (!ends->micro_rounds || ends->rounds_since_drop < ends->micro_rounds);
}

/* Counts one drop for a round. Its first gradient votes for the number of backwards that a step
 * has: that of most is left (Boyer and Moore). */
static void note_free(struct gradient_drops *drops, const struct history *history,
                      const struct block *block)
{
    if (!block->outlived || !block_is_of_backward(history, block) ||
        (drops->count && drops->round == history->rounds_count))
        return;
    const uint32_t rounds = history->rounds_count - block->birth_round + 1;
    drops->count++;
    drops->round = history->rounds_count;
    if (!drops->votes_count)
        drops->step_rounds = rounds;
    drops->votes_count += rounds == drops->step_rounds ? 1 : UINT64_MAX;
}

static enum step_end count_round(struct step_ends *ends, enum step_end of_all)
{
    const enum step_end kind = ends->since_index ? STEP_END_AFTERWARDS : of_all;
    ends->begun_count += !ends->counts[kind]++;
    return kind;
}

static enum step_end end_span(struct step_ends *ends, const struct cursor *at, uint32_t span)
{
    const struct history *history = at->history;
    const uint32_t path = at->spans->items[span].path;
    /* A phase without an end event ends no step. Where call stacks tell the rounds, none does. */
    if (!at->event || ends->period.roles)
        return STEP_ENDS;
    if (ends->period.phase.name)
        return phase_period_has(&ends->period.phase, history, at->spans, span)
                   ? count_round(ends, STEP_END_PHASE)
                   : STEP_ENDS;
    const enum step_end kind = kind_of_path(&history->paths[path]);
    if (kind == STEP_ENDS || is_inside_its_kind(history, path, kind))
        return STEP_ENDS;
    if (kind == STEP_END_INFERRED_OPTIMIZER)
        note_clipping(&ends->clippings, &at->spans->items[span]);
    return is_micro(ends, &at->spans->items[span]) ? STEP_ENDS
                                                   : count_end(ends, kind, &at->spans->items[span]);
}

/* --- the last phase --- */

static void begin_inferred(struct last_phase *last, const struct spans *spans, uint32_t span,
                           enum step_end kind)
{
    last->spans = spans;
    last->span = span;
    last->kind = kind;
    last->births_count = last->frees_count = 0;
}

/* A phase that ends no step does not tell when the last one of its kind is over. */
static void end_inferred(struct step_ends *ends)
{
    struct last_phase *last = &ends->last;
    const struct spans *spans = last->spans;
    last->spans = NULL;
    if (is_micro(ends, &spans->items[last->span]))
        return;
    const bool is_fewest =
        !last->ended_count[last->kind]++ || last->births_count < last->fewest_births[last->kind];
    if (is_fewest)
        last->fewest_births[last->kind] = last->births_count;
    last->frees_at_end[last->kind] = last->frees_count;
}

/* Another phase can begin only with a request. */
static void count_change(struct last_phase *last, const struct cursor *at,
                         const struct change *change)
{
    if (!last->spans || !spans_may_infer(at->history->accounts[change->block->account].kind))
        return;
    last->births_count += change->birth;
    last->frees_count = change->birth ? 0 : last->frees_count + 1;
    last->is_over =
        at->event->seq >= last->request_seq && last->ended_count[last->kind] &&
        last->births_count >= last->fewest_births[last->kind] &&
        (last->frees_count >= last->frees_at_end[last->kind] || at->event->seq >= last->free_seq);
}

static enum step_end end_last(struct step_ends *ends)
{
    const struct last_phase last = ends->last;
    if (!last.is_over)
        return STEP_ENDS;
    ends->last.is_over = false;
    ends->last.spans = NULL;
    if (is_micro(ends, &last.spans->items[last.span]))
        return STEP_ENDS;
    const enum step_end kind = count_end(ends, last.kind, &last.spans->items[last.span]);
    ends->last.is_cut = kind < STEP_ENDS && last.frees_count < last.frees_at_end[kind];
    return kind;
}

/* --- the observer --- */

/* Called before the event changes memory. */
static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct step_ends *ends = self;
    const struct path *path = &at->history->paths[at->spans->items[span].path];
    const enum step_end kind = kind_of_path(path);
    const bool is_inferred = path->source == PHASE_SOURCE_INFERRED && kind < STEP_ENDS;
    if (!begins) {
        if (is_inferred && ends->last.spans)
            end_inferred(ends);
        ends->ended = end_span(ends, at, span);
        return 0;
    }
    if (is_inferred) {
        begin_inferred(&ends->last, at->spans, span, kind);
        ends->rounds_since_drop = at->history->rounds_count - ends->drops.round;
    }
    if (kind < STEP_ENDS)
        ends->opened_counts[kind]++;
    return 0;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct step_ends *ends = self;
    if (!ends->period.roles) {
        if (!change->birth)
            note_free(&ends->drops, at->history, change->block);
        count_change(&ends->last, at, change);
        return 0;
    }
    ends->ended = change->block->life.begin_index >= ends->since_index &&
                          step_period_change(&ends->period, at->history, change)
                      ? count_round(ends, STEP_END_REPEATED)
                      : STEP_ENDS;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct step_ends *ends = self;
    if (ends->period.roles)
        ends->ended =
            step_period_is_over(&ends->period) ? count_round(ends, STEP_END_REPEATED) : STEP_ENDS;
    else if (at->event->kind == EVENT_STEP)
        ends->ended =
            at->event->result != INT32_MIN ? count_end(ends, STEP_END_EVENT, NULL) : STEP_ENDS;
    else
        ends->ended = end_last(ends);
    return 0;
}

struct observer step_ends_observer(struct step_ends *ends)
{
    return (struct observer){.self = ends,
                             .on_change =
                                 ends->period.roles || ends->last.request_seq ? on_change : NULL,
                             .on_span = on_span,
                             .on_event = on_event,
                             .kinds = step_ends_kinds(ends)};
}

void step_ends_release(struct step_ends *ends)
{
    step_period_release(&ends->period);
    *ends = (struct step_ends){0};
}
