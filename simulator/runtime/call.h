/* SPDX-License-Identifier: MIT */
/*
 * One call of an exported function, from entry to return: ordered failures, what has to be there
 * before the body runs, the thread's last error. Every exported function that can fail is
 *
 *     return CALL(NEEDS_CONTEXT, body of the call);
 *
 * Exported functions never call each other: a preloaded library would see that as a call of the
 * program's.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_CALL_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_CALL_H

#include <stdbool.h>

#include "gpumemtrace/compiler.h"
#include "driver_table.h"
#include "error.h"

enum call_needs {
    NEEDS_NOTHING,
    NEEDS_DRIVER,  /* the table; a function of the driver that works before cuInit */
    NEEDS_DEVICES, /* cuInit has succeeded */
    NEEDS_CONTEXT  /* one is current: the thread's own, else its device's primary context */
};

/* `body` is an expression of type cudaError_t; it is left out when the call fails before it. */
#define CALL(needs, body) error_remember(call_begin(__func__, needs) ? (body) : call_refusal())

/* For the body: whether a parameter that must not be NULL is none, and what to return if it is. */
#define CALL_UNLESS_NULL(pointer, body) ((pointer) ? (body) : cudaErrorInvalidValue)

/*
 * Defines the two forms of a function that takes a stream, by one body, which reads `form`: the
 * program's stream 0 is the legacy stream in `name` and the thread's own in name_ptsz (_ptds).
 */
#define TWIN(suffix, name, parameters, needs, body)                                                \
    GMT_EXPORT cudaError_t name parameters                                                         \
    {                                                                                              \
        const enum stream_form form = LEGACY;                                                      \
        return CALL(needs, body);                                                                  \
    }                                                                                              \
    GMT_EXPORT cudaError_t name##suffix parameters                                                 \
    {                                                                                              \
        const enum stream_form form = PER_THREAD;                                                  \
        return CALL(needs, body);                                                                  \
    }

/* false: the call is to have no effect and to return call_refusal(). */
bool call_begin(const char *function, enum call_needs needs);
cudaError_t call_refusal(void);

/* The driver's table inside a body: never NULL from NEEDS_DRIVER on. */
const struct driver_table *call_driver(void);

#endif
