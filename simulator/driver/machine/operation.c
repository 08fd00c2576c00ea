/* SPDX-License-Identifier: MIT */
/*
 * The operator in progress. See operation.h.
 */
#include "operation.h"

#include <stdatomic.h>
#include <string.h>

#include "contents.h"

struct operation {
    unsigned depth, reading_count, answer_count, next_answer;
    bool reads_arguments;
    int64_t answers[OPERATION_ANSWERS_MAX];
};

static _Thread_local struct operation own;
static _Atomic uint64_t readings_outside; /* relaxed: only a count */

void operation_begin(bool reads_arguments)
{
    own.depth++;
    own.reads_arguments = reads_arguments;
}

bool operation_reads_contents(void)
{
    return !own.depth || own.reads_arguments;
}

unsigned operation_end(void)
{
    const unsigned count = own.reading_count;
    own.depth -= own.depth > 0;
    own.reading_count = own.answer_count = own.next_answer = 0;
    return count;
}

void operation_expect(const int64_t *answers, unsigned count)
{
    own.answer_count = count < OPERATION_ANSWERS_MAX ? count : OPERATION_ANSWERS_MAX;
    own.next_answer = 0;
    memcpy(own.answers, answers, own.answer_count * sizeof *answers);
}

bool operation_answer(void *bytes, uint64_t size_bytes)
{
    if (!own.answer_count || size_bytes > sizeof *own.answers)
        return false;
    memcpy(bytes, &own.answers[own.next_answer], size_bytes);
    own.next_answer += own.next_answer + 1 < own.answer_count;
    return true;
}

void operation_count_reading(void)
{
    if (own.depth)
        own.reading_count++;
    else
        atomic_fetch_add_explicit(&readings_outside, 1, memory_order_relaxed);
}

uint64_t operation_readings_outside(void)
{
    return atomic_load_explicit(&readings_outside, memory_order_relaxed);
}

void operation_kernel_ran(void)
{
    if (!own.depth)
        contents_forget_all();
}
