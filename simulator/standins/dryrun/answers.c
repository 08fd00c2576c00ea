/* SPDX-License-Identifier: MIT */
/* Counts calls of functions without a model. See answers.h. */
#include "answers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

struct answer {
    struct answer *next;
    uintptr_t returned;
    _Atomic uint64_t count; /* relaxed: no other memory depends on it */
    char name[];
};

/* A list: added to with release order, read with acquire order. Entries are not removed. */
static struct answer *_Atomic answers;

static struct answer *add_answer(const char *name, uintptr_t returned)
{
    const size_t bytes = strlen(name) + 1;
    struct answer *answer = calloc(1, sizeof *answer + bytes);
    if (!answer)
        return NULL;
    memcpy(answer->name, name, bytes);
    answer->returned = returned;
    answer->next = atomic_load_explicit(&answers, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&answers, &answer->next, answer,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return answer;
}

/* Whether the name shows that the function returns a text. */
static int returns_text(const char *name)
{
    static const char *const endings[] = {"GetErrorString", "GetErrorName", "GetStatusString",
                                          "GetStatusName", "ErrorString"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t letters = strlen(endings[i]), all = strlen(name);
        if (all >= letters && !strcmp(name + all - letters, endings[i]))
            return 1;
    }
    return 0;
}

const struct answer *answer_new(const char *name, int not_supported)
{
    static const char text[] = "not modelled in a dry run";
    return add_answer(name, returns_text(name) ? (uintptr_t)text : (uintptr_t)not_supported);
}

uintptr_t answer_call(struct answer *answer)
{
    atomic_fetch_add_explicit(&answer->count, 1, memory_order_relaxed);
    return answer->returned;
}

static struct answer *find_answer(const char *name)
{
    struct answer *answer = atomic_load_explicit(&answers, memory_order_acquire);
    while (answer && strcmp(answer->name, name) != 0)
        answer = answer->next;
    return answer;
}

GMT_EXPORT void gpumemtrace_dryrun_count(const char *name)
{
    struct answer *answer = find_answer(name);
    if (!answer)
        answer = add_answer(name, 0);
    if (answer)
        answer_call(answer);
}

GMT_EXPORT const char *gpumemtrace_dryrun_unanswered(unsigned index, uint64_t *count)
{
    struct answer *const first = atomic_load_explicit(&answers, memory_order_acquire);
    for (const struct answer *answer = first; answer; answer = answer->next) {
        *count = atomic_load_explicit(&answer->count, memory_order_relaxed);
        if (*count && !index--)
            return answer->name;
    }
    return NULL;
}
