/* SPDX-License-Identifier: MIT */
/*
 * Keeps a small table of names and counts, which is written to the ring as soon as a recording
 * runs. See coverage.h.
 */
#include "coverage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/thread.h"

#define NAME_LIMIT 256 /* the last row counts all names for which there is no room */
#define NAME_BYTES 63  /* including the final 0 */

static bool matches(const char *pattern, const char *name)
{
    const size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                      : strcmp(pattern, name) == 0;
}

static bool concerns_memory(const char *name)
{
    static const struct {
        bool memory;
        const char *pattern;
    } rows[] = {
#define MEMORY(pattern) {true, pattern},
#define HARMLESS(pattern) {false, pattern},
#include "gpumemtrace/coverage.def"
    };
    bool memory = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (matches(rows[i].pattern, name)) {
            if (!rows[i].memory)
                return false;
            memory = true;
        }
    return memory;
}

enum name_state { NAME_EMPTY, NAME_BEING_WRITTEN, NAME_READY };

/* The table is lock-free, because a lookup may come from anywhere. A name is complete once its
 * state is READY (release). Two threads may add the same name twice; the trace adds up the
 * counts. */
struct name_count {
    char name[NAME_BYTES];
    _Atomic uint8_t state;
    _Atomic uint32_t pending_count; /* calls that are not in the ring yet */
};
static struct name_count counts[NAME_LIMIT];

static bool take_row(struct name_count *count, const char *name)
{
    uint8_t empty = NAME_EMPTY;
    if (!atomic_compare_exchange_strong_explicit(&count->state, &empty, NAME_BEING_WRITTEN,
                                                 memory_order_relaxed, memory_order_relaxed))
        return false;
    memcpy(count->name, name, strnlen(name, NAME_BYTES - 1));
    atomic_store_explicit(&count->state, NAME_READY, memory_order_release);
    return true;
}

static bool is_of(const struct name_count *count, const char *name)
{
    return atomic_load_explicit(&count->state, memory_order_acquire) == NAME_READY &&
           strncmp(count->name, name, NAME_BYTES - 1) == 0;
}

static struct name_count *count_of(const char *name)
{
    for (size_t i = 0; i < NAME_LIMIT - 1; i++)
        if (is_of(&counts[i], name) || take_row(&counts[i], name))
            return &counts[i];
    take_row(&counts[NAME_LIMIT - 1], "(more names)");
    return &counts[NAME_LIMIT - 1];
}

static void write_counts(struct thread *thread)
{
    for (size_t i = 0; i < NAME_LIMIT; i++) {
        if (atomic_load_explicit(&counts[i].state, memory_order_acquire) != NAME_READY)
            continue;
        const uint32_t pending = atomic_exchange(&counts[i].pending_count, 0);
        const struct ring_slot slot = {.size_bytes = pending};
        if (pending)
            thread_define(thread, SLOT_COVERAGE, &slot, counts[i].name, strlen(counts[i].name));
    }
}

void coverage_write_pending(void)
{
    struct thread *thread = thread_current();
    if (thread)
        write_counts(thread);
}

/* First counts, and then checks whether a recording runs. A recording that begins does the
 * opposite: it first announces that it runs, and then writes the counts. So at least one of the two
 * writes the new count. */
void coverage_count_many(const char *name, uint32_t count)
{
    const int saved_errno = errno;
    atomic_fetch_add(&count_of(name)->pending_count, count);
    coverage_write_pending();
    errno = saved_errno;
}

void coverage_count(const char *name)
{
    coverage_count_many(name, 1);
}

static _Thread_local unsigned open_lookups GMT_TLS_INITIAL_EXEC;

void coverage_lookup_begin(void)
{
    open_lookups++;
}

void coverage_lookup_end(const char *name)
{
    if (--open_lookups == 0 && name && concerns_memory(name))
        coverage_count(name);
}
