/* SPDX-License-Identifier: MIT */
/*
 * Counts, for each line of the program, the readings of values that were not computed. See
 * simulator/values.h.
 */
#include "simulator/values.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/operation.h"

#define NOTES_MAX 64
#define FILE_BYTES_MAX 512

/* A note counts the readings of one line. Notes are in the order of each line's first reading. When
 * the table is full, all further lines are counted in the last note. */
struct note {
    char file[FILE_BYTES_MAX];
    unsigned line;
    _Atomic uint64_t count; /* relaxed: only a count */
};

/* Writers hold the simulator's lock. Readers take no lock: a note is complete before note_count,
 * stored with release order, includes it. */
static struct note notes[NOTES_MAX];
static _Atomic unsigned note_count;
static _Atomic uint64_t float_count; /* relaxed */

static struct note *note_of(const char *file, unsigned line)
{
    const unsigned known = atomic_load_explicit(&note_count, memory_order_relaxed);
    for (unsigned i = 0; i < known; i++)
        if (notes[i].line == line && !strcmp(notes[i].file, file))
            return &notes[i];
    if (known == NOTES_MAX)
        return &notes[NOTES_MAX - 1];
    snprintf(notes[known].file, sizeof notes[known].file, "%s", file);
    notes[known].line = line;
    atomic_store_explicit(&note_count, known + 1, memory_order_release);
    return &notes[known];
}

uint64_t gpumemtrace_values_note(const char *file, unsigned line)
{
    struct call call;
    uint64_t count = 0;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        count = 1 + atomic_fetch_add_explicit(&note_of(file, line)->count, 1, memory_order_relaxed);
    call_end(&call);
    return count;
}

void gpumemtrace_values_note_float(void)
{
    atomic_fetch_add_explicit(&float_count, 1, memory_order_relaxed);
}

uint64_t gpumemtrace_values_floats(void)
{
    return atomic_load_explicit(&float_count, memory_order_relaxed);
}

uint64_t gpumemtrace_values_noted(unsigned number, char *file, unsigned file_bytes, unsigned *line)
{
    const unsigned known = atomic_load_explicit(&note_count, memory_order_acquire);
    const bool is_known = number < known;
    *line = is_known ? notes[number].line : 0;
    snprintf(file, file_bytes, "%s", is_known ? notes[number].file : "");
    if (is_known)
        return atomic_load_explicit(&notes[number].count, memory_order_relaxed);
    return number == known ? operation_readings_outside() : 0;
}
