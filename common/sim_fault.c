/* SPDX-License-Identifier: MIT */
/*
 * The list of injected failures, read once from the environment. See sim_fault.h.
 */
#include "sim_fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "printable.h"

#define FAULT_LIMIT 64
#define NAME_LIMIT 64

struct fault {
    char function[NAME_LIMIT];
    unsigned long which; /* the call that fails, counted from 1 */
    int result;
    atomic_ulong calls;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fault faults[FAULT_LIMIT];
static size_t fault_count; /* written once, before any thread reads it */

/* Reads one fault: "function:which=result". */
static int read_fault(const char *text, struct fault *fault)
{
    const char *colon = strchr(text, ':');
    uint64_t which, result;
    if (!colon || colon == text || colon - text >= NAME_LIMIT)
        return -1;
    const char *end = digits_read(colon + 1, &which);
    if (which == 0 || *end != '=')
        return -1;
    end = digits_read(end + 1, &result);
    if (result == 0 || result > 999 || *end != '\0')
        return -1;
    memcpy(fault->function, text, (size_t)(colon - text));
    fault->which = (unsigned long)which;
    fault->result = (int)result;
    return 0;
}

static void read_faults(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM_FAULT");
    char *copy = text ? strdup(text) : NULL, *rest = copy, *part;
    while (rest && (part = strsep(&rest, ";"))) {
        if (!*part)
            continue;
        if (fault_count < FAULT_LIMIT && !read_fault(part, &faults[fault_count])) {
            fault_count++;
            continue;
        }
        printable_make(part);
        fprintf(stderr,
                "gpumemtrace simulator: GPUMEMTRACE_SIM_FAULT: '%s' is not a fault and is "
                "ignored; write FUNCTION:NTH=RESULT, for example cuMemAlloc_v2:3=2\n",
                part);
    }
    free(copy);
}

int fault_of(const char *function)
{
    int result = 0;
    pthread_once(&once, read_faults);
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        /* Relaxed: only the count matters; it orders no other memory. */
        if (!strcmp(fault->function, function) &&
            atomic_fetch_add_explicit(&fault->calls, 1, memory_order_relaxed) + 1 == fault->which)
            result = fault->result;
    }
    return result;
}
