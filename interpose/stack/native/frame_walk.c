/* SPDX-License-Identifier: MIT */
/*
 * See frame_walk.h.
 *
 * A rule is added to the table when a walk by this rule has found the same frames as the unwinder.
 * A walk reads no memory above the frames that were confirmed in this way on its thread.
 */
#include "frame_walk.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "modules.h"
#include "unwind_memory.h"

#if defined(__x86_64__)

/* --- known rules: shared by all threads, never removed ---
 *
 * Rules are stored in the order in which they were learnt, so the rules of one stack are
 * neighbours. Each rule also stores a guess of its caller's rule. So where the last walk does not
 * help, a walk mostly reads consecutive cache lines. If the guess is wrong, the index is searched.
 *
 *     rules:  | place, rule, next | place, rule, next | …       four in a line
 *     index:  | number + 1 | 0 | number + 1 | …                 by a hash of the place */

#define RULES_BITS 14
#define RULES_MAX (1u << RULES_BITS) /* 256 KiB */
#define INDEX_BITS (RULES_BITS + 1)
#define INDEX_TRIES 16

static struct known_rule {
    _Atomic uintptr_t place; /* 0: no rule; stored with release after the rule */
    uint32_t base : 2;
    uint32_t cfa_words : 30;
    uint16_t bp_words;
    /* A guess: the rule that a walk last found after this rule. Relaxed, because readers check the
     * place of the guessed rule. */
    _Atomic uint16_t next;
} rules[RULES_MAX];

_Static_assert(RULES_MAX <= UINT16_MAX && sizeof(struct known_rule) == 16, "four in a line");

static _Atomic uint16_t rule_index[1u << INDEX_BITS]; /* stored with release after the rule */
static unsigned rule_count;                           /* written only while `adding` is set */

/* Set while a thread adds a rule. No other thread waits for that: a thread that finds the flag set
 * learns its rule later. If the process forks while the flag is set, the flag stays set in the
 * child, and the child adds no rules. */
static atomic_flag adding = ATOMIC_FLAG_INIT;

static inline bool is_of_place(const struct known_rule *known, uintptr_t place)
{
    return atomic_load_explicit(&known->place, memory_order_acquire) == place;
}

static inline struct frame_rule rule_of(const struct known_rule *known)
{
    return (struct frame_rule){known->base, known->cfa_words, known->bp_words};
}

/* Returns the index entry that has this place, or a free entry for the place. NULL: there is
 * neither within INDEX_TRIES. */
static _Atomic uint16_t *entry_of(uintptr_t place)
{
    const uint64_t start = place * 0x9e3779b97f4a7c15u >> (64 - INDEX_BITS);
    for (uint64_t i = start; i < start + INDEX_TRIES; i++) {
        _Atomic uint16_t *entry = &rule_index[i % (1u << INDEX_BITS)];
        const unsigned number = atomic_load_explicit(entry, memory_order_acquire);
        if (!number || is_of_place(&rules[number - 1], place))
            return entry;
    }
    return NULL;
}

static struct known_rule *find_rule(uintptr_t place)
{
    _Atomic uint16_t *entry = entry_of(place);
    const unsigned number = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
    /* Compare again, because another thread may have used the free entry for another place. */
    return number && is_of_place(&rules[number - 1], place) ? &rules[number - 1] : NULL;
}

/* Returns false if the rule was not added, because the table is full or another thread is adding a
 * rule. */
static bool add_rule(uintptr_t place, struct frame_rule rule)
{
    if (atomic_flag_test_and_set_explicit(&adding, memory_order_acquire))
        return false;
    _Atomic uint16_t *entry = entry_of(place);
    bool added = entry && atomic_load_explicit(entry, memory_order_relaxed);
    if (entry && !added && rule_count < RULES_MAX && rule.bp_words <= UINT16_MAX) {
        struct known_rule *known = &rules[rule_count++];
        known->base = rule.base;
        known->cfa_words = rule.cfa_words;
        known->bp_words = (uint16_t)rule.bp_words;
        atomic_store_explicit(&known->next, (uint16_t)(rule_count % RULES_MAX),
                              memory_order_relaxed);
        atomic_store_explicit(&known->place, place, memory_order_release);
        atomic_store_explicit(entry, (uint16_t)rule_count, memory_order_release);
        added = true;
    }
    atomic_flag_clear_explicit(&adding, memory_order_release);
    return added;
}

/* --- one step --- */

/* Numbers below this one are not addresses of code. The outermost frame of a thread may have such a
 * number as its return address. libunwind also stops at such a number. */
#define PLACE_MIN 0x4000

struct position {
    uintptr_t sp, bp, place;
    uintptr_t bp_at; /* address where bp was saved; 0: bp is still in the register */
};

/* Makes the position of the line of code that uses this macro. `place` serves as a return address
 * into the function of that line. */
#define POSITION_HERE(at)                                                                          \
    __asm__ volatile("movq %%rbp, %0\n\tmovq %%rsp, %1\n\tleaq 1(%%rip), %2"                       \
                     : "=&r"((at).bp), "=&r"((at).sp), "=&r"((at).place))

static inline uintptr_t cfa_of(const struct position *at, struct frame_rule rule)
{
    return (rule.base == FRAME_FROM_SP ? at->sp : at->bp) + (uintptr_t)8 * rule.cfa_words;
}

/* Checks that the caller's frame lies above the frame that it called, and below `top`. */
static inline bool is_plausible(const struct position *at, uintptr_t cfa, struct frame_rule rule,
                                uintptr_t top)
{
    return cfa > at->sp && cfa <= top && cfa % 8 == 0 &&
           cfa - at->sp >= (uintptr_t)8 * rule.bp_words;
}

static inline void go_to_caller(struct position *at, uintptr_t cfa, struct frame_rule rule)
{
    if (rule.bp_words) {
        at->bp_at = cfa - (uintptr_t)8 * rule.bp_words;
        at->bp = *(const uintptr_t *)at->bp_at;
    }
    at->place = *(const uintptr_t *)(cfa - 8);
    at->sp = cfa;
}

/* --- walking --- */

#define STACK_BYTES_MAX ((uintptr_t)16 << 20)

static GMT_NOINLINE struct known_rule *look_up(uintptr_t place, struct known_rule *before)
{
    struct known_rule *known = find_rule(place);
    /* This is one of our own frames between the walk and the call of the unwinder. The unwinder
     * never returns such a frame, so it cannot confirm the frame's rule. */
    if (!known && modules_is_own((const void *)place)) {
        add_rule(place, frame_rules_read(place));
        known = find_rule(place);
    }
    if (known && before)
        atomic_store_explicit(&before->next, (uint16_t)(known - rules), memory_order_relaxed);
    return known;
}

/* Returns the rule for this place. before: the rule of the frame before this frame; NULL:
 * unknown. */
static inline struct known_rule *next_rule(uintptr_t place, struct known_rule *before)
{
    if (before) {
        struct known_rule *next = &rules[atomic_load_explicit(&before->next, memory_order_relaxed)];
        if (GMT_LIKELY(is_of_place(next, place)))
            return next;
    }
    return look_up(place, before);
}

/* Returns the rbp of this step's frame. first: the rbp where the walk starts. */
static inline uintptr_t bp_of(const struct frame_step *step, uintptr_t first)
{
    return step->bp_at ? *(const uintptr_t *)step->bp_at : first;
}

/* Do the saved words of this step still lead to the next step? */
static inline bool leads_to(const struct frame_step *step, const struct frame_step *next,
                            uintptr_t first_bp)
{
    return *(const uintptr_t *)(next->sp - 8) == next->place &&
           (step->rule.base == FRAME_FROM_SP ||
            bp_of(step, first_bp) + (uintptr_t)8 * step->rule.cfa_words == next->sp);
}

/* Repeats the steps of the last walk, because a loop that allocates has the same stack again and
 * again. Fills frames, and returns the first step that no longer leads to the next one, or the last
 * step. */
static inline const struct frame_step *repeat_steps(const struct frame_step *step,
                                                    const struct frame_step *end,
                                                    uintptr_t first_bp, void **frames)
{
    for (; step + 1 < end && leads_to(step, step + 1, first_bp); step++)
        *frames++ = (void *)step[1].place;
    return step;
}

/* Continues from this step of the last walk; all earlier steps of that walk are still valid. NULL:
 * walks from the start. */
static GMT_NOINLINE int walk_on(struct frame_walk *walk, struct frame_steps *steps,
                                const struct frame_step *from, struct position at, void **frames,
                                int limit)
{
    struct frame_step *const last_start = steps->steps[walk->last];
    const struct frame_step *const last_end = last_start + walk->count;
    const struct frame_step *last = from ? from : last_start;
    const unsigned held = (unsigned)(last - last_start);
    const bool in_place = last + 1 >= last_end; /* no later step of the last walk is needed again */
    const bool may_repeat = !in_place && last_end[-1].sp <= walk->top;
    const uintptr_t first_bp = at.bp;
    struct frame_step *const now = in_place ? last_start : steps->steps[!walk->last];
    struct frame_step *next = now + held;
    struct known_rule *before = NULL;
    int count = (int)held;
    if (from)
        at = (struct position){from->sp, bp_of(from, at.bp), from->place, from->bp_at};
    if (!in_place)
        memcpy(now, last_start, held * sizeof *now);
    for (;;) {
        while (last < last_end && last->sp < at.sp)
            last++;
        const bool known = last < last_end && last->sp == at.sp && last->place == at.place;
        if (known && may_repeat && last->bp_at == at.bp_at && count + (last_end - last) <= limit) {
            /* From here outwards the stack may be unchanged. */
            const struct frame_step *end = repeat_steps(last, last_end, first_bp, frames + count);
            memcpy(next, last, (size_t)(end - last) * sizeof *next);
            next += end - last;
            count += (int)(end - last);
            last = end;
            at = (struct position){end->sp, bp_of(end, first_bp), end->place, end->bp_at};
        }
        before = known ? NULL : next_rule(at.place, before);
        if (!known && !before)
            return 0;
        const struct frame_rule rule = known ? last->rule : rule_of(before);
        if (rule.base == FRAME_NONE)
            return 0;
        const uintptr_t cfa = cfa_of(&at, rule);
        *next++ = (struct frame_step){at.sp, at.place, at.bp_at, rule};
        if (rule.base == FRAME_LAST)
            break;
        if (!is_plausible(&at, cfa, rule, walk->top))
            return 0;
        go_to_caller(&at, cfa, rule);
        if (at.place < PLACE_MIN || count == limit)
            break;
        frames[count++] = (void *)at.place;
    }
    walk->count = (unsigned)(next - now);
    if (!in_place)
        walk->last = !walk->last;
    return count;
}

int frame_walk(struct frame_walk *walk, struct frame_steps *steps, void **frames, int limit)
{
    const struct frame_step *const last = steps->steps[walk->last], *from = NULL;
    struct position at = {.bp_at = 0};
    POSITION_HERE(at);
    if (walk->pause) {
        walk->pause--;
        return 0;
    }
    if (at.sp > walk->top || walk->top - at.sp > STACK_BYTES_MAX || limit >= FRAME_STEPS_MAX)
        return 0;
    if (walk->count && last->sp == at.sp && last->place == at.place &&
        walk->count <= (unsigned)limit && last[walk->count - 1].sp <= walk->top) {
        from = repeat_steps(last, last + walk->count, at.bp, frames);
        if (from->rule.base == FRAME_LAST)
            return (int)(from - last);
    }
    return walk_on(walk, steps, from, at, frames, limit);
}

/* --- learning --- */

#define FAILURES_MAX 10 /* after these, the next 1,023 calls do not try a walk */
#define FRAME_BYTES_MAX ((uintptr_t)1 << 20)

/* Goes on to the caller's frame. Returns false if the rule looks wrong. */
static bool try_step(struct position *at, struct frame_rule rule)
{
    const uintptr_t cfa = cfa_of(at, rule);
    if (rule.base < FRAME_FROM_SP || !is_plausible(at, cfa, rule, at->sp + FRAME_BYTES_MAX) ||
        !unwind_memory_is_readable(cfa - 8) ||
        !unwind_memory_is_readable(cfa - (uintptr_t)8 * (rule.bp_words ? rule.bp_words : 1)))
        return false;
    go_to_caller(at, cfa, rule);
    return true;
}

/* Does a walk by rules find the same frames as the unwinder? frames[0] is not compared: it lies in
 * our caller, which has called the walk and the unwinder from different places. */
static bool compare(struct position *at, void *const *frames, int count, uintptr_t *top,
                    bool *learned)
{
    for (int i = -1; i < count; i++) {
        const struct known_rule *known = find_rule(at->place);
        const struct frame_rule rule = known ? rule_of(known) : frame_rules_read(at->place);
        const uintptr_t place = at->place;
        const bool last = i + 1 == count;
        if (rule.base == FRAME_NONE) {
            add_rule(place, rule);
            return false;
        }
        if (rule.base == FRAME_LAST ? !last : !try_step(at, rule))
            return false;
        if (rule.base != FRAME_LAST &&
            (last ? at->place >= PLACE_MIN : i >= 0 && at->place != (uintptr_t)frames[i + 1]))
            return false;
        *top = at->sp;
        *learned |= !known && add_rule(place, rule);
    }
    return true;
}

void frame_walk_learn(struct frame_walk *walk, void *const *frames, int count)
{
    struct position at = {.bp_at = 0};
    bool learned = false;
    POSITION_HERE(at);
    if (walk->pause)
        return;
    walk->top = 0;
    if (compare(&at, frames, count, &walk->top, &learned) || learned)
        walk->failures = 0;
    else if (walk->failures < FAILURES_MAX)
        walk->failures++;
    walk->pause = (1u << walk->failures) - 1;
}

#else

int frame_walk(struct frame_walk *walk, struct frame_steps *steps, void **frames, int limit)
{
    (void)walk, (void)steps, (void)frames, (void)limit;
    return 0;
}

void frame_walk_learn(struct frame_walk *walk, void *const *frames, int count)
{
    (void)walk, (void)frames, (void)count;
}

#endif
