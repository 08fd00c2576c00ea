/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the contents of device memory, so that a dry run can have values. See
 * simulator/values.h.
 */
#include "simulator/values.h"

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/contents.h"
#include "simulator/driver/machine/open_captures.h"
#include "simulator/driver/machine/operation.h"

#define RANK_MAX 64

int gpumemtrace_values_kept(void)
{
    return contents_are_kept();
}

int gpumemtrace_values_begin(int reads_arguments)
{
    struct call call;
    int captures = 0;
    operation_begin(reads_arguments);
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        captures = open_captures_first() != NULL;
    call_end(&call);
    return captures;
}

unsigned gpumemtrace_values_end(void)
{
    return operation_end();
}

void gpumemtrace_values_expect(const int64_t *answers, unsigned count)
{
    operation_expect(answers, count);
}

/* --- tensors --- */

/* A tensor as a sequence of runs. A run is a sequence of elements without gaps. There are `count`
 * runs, in the dimensions before `rank`. */
struct runs {
    unsigned rank;
    uint64_t run_bytes, count;
    const int64_t *shape, *strides;
    uint64_t address;
    unsigned element_bytes;
    int64_t at[RANK_MAX];
};

/* false: the tensor has no elements. */
static bool runs_begin(struct runs *runs)
{
    int64_t dense = 1;
    if (runs->rank > RANK_MAX)
        return false;
    while (runs->rank &&
           (runs->shape[runs->rank - 1] == 1 || runs->strides[runs->rank - 1] == dense))
        dense *= runs->shape[--runs->rank];
    runs->run_bytes = (uint64_t)dense * runs->element_bytes;
    runs->count = 1;
    for (unsigned i = 0; i < runs->rank; i++) {
        runs->count *= (uint64_t)runs->shape[i];
        runs->at[i] = 0;
    }
    return runs->run_bytes && runs->count;
}

static void runs_next(struct runs *runs)
{
    for (unsigned i = runs->rank; i-- > 0;) {
        const uint64_t step_bytes = (uint64_t)runs->strides[i] * runs->element_bytes;
        runs->address += step_bytes;
        if (++runs->at[i] < runs->shape[i])
            return;
        runs->address -= step_bytes * (uint64_t)runs->shape[i];
        runs->at[i] = 0;
    }
}

int gpumemtrace_values_read(uint64_t address, unsigned rank, const int64_t *shape,
                            const int64_t *strides, unsigned element_bytes, void *elements)
{
    struct call call;
    struct runs runs = {rank, 0, 0, shape, strides, address, element_bytes, {0}};
    enum contents_state state = CONTENTS_KNOWN;
    char *place = elements;
    if (!runs_begin(&runs))
        return CONTENTS_KNOWN;
    if (!call_begin(&call, __func__, CALL_NEEDS_INIT))
        state = CONTENTS_UNKNOWN;
    for (; !call.result && runs.count; runs.count--, place += runs.run_bytes) {
        const enum contents_state own = contents_read(runs.address, runs.run_bytes, place);
        state = own < state ? own : state;
        runs_next(&runs);
    }
    call_end(&call);
    return (int)state;
}

void gpumemtrace_values_write(uint64_t address, unsigned rank, const int64_t *shape,
                              const int64_t *strides, unsigned element_bytes, const void *elements,
                              int state)
{
    struct call call;
    struct runs runs = {rank, 0, 0, shape, strides, address, element_bytes, {0}};
    const char *place = elements;
    if (!runs_begin(&runs))
        return;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        for (; runs.count; runs.count--) {
            if (state == CONTENTS_UNKNOWN)
                contents_forget(runs.address, runs.run_bytes);
            else
                contents_write(runs.address, runs.run_bytes, place, (enum contents_state)state);
            if (state != CONTENTS_UNKNOWN)
                place += runs.run_bytes;
            runs_next(&runs);
        }
    call_end(&call);
}

void gpumemtrace_values_guess(uint64_t address, unsigned rank, const int64_t *shape,
                              const int64_t *strides, unsigned element_bytes, void *elements)
{
    struct call call;
    struct runs runs = {rank, 0, 0, shape, strides, address, element_bytes, {0}};
    char *place = elements;
    if (!runs_begin(&runs))
        return;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        for (; runs.count; runs.count--, place += runs.run_bytes) {
            contents_guess(runs.address, runs.run_bytes, place);
            runs_next(&runs);
        }
    call_end(&call);
}

/* --- bytes --- */

int gpumemtrace_values_state(uint64_t address, uint64_t size_bytes)
{
    struct call call;
    enum contents_state state = CONTENTS_UNKNOWN;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        state = contents_least(address, size_bytes);
    call_end(&call);
    return (int)state;
}

void gpumemtrace_values_forget(uint64_t address, uint64_t size_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        contents_forget(address, size_bytes);
    call_end(&call);
}
