/* SPDX-License-Identifier: MIT */
/*
 * One call of an exported function, from entry to return: injected failures, the initialization
 * that the body needs, the thread's last error. Every exported function that can fail has this
 * form:
 *
 *     return CALL(NEEDS_CONTEXT, body of the call);
 *
 * Exported functions do not call each other. If they did, a preloaded library would believe that
 * the program has made the inner call.
 */
#pragma once

#include <stdbool.h>

#include "gpumemtrace/compiler.h"
#include "driver_table.h"
#include "error.h"

enum call_needs {
    NEEDS_NOTHING,
    NEEDS_DRIVER,  /* the driver's table, before cuInit */
    NEEDS_DEVICES, /* cuInit has succeeded */
    NEEDS_CONTEXT  /* a current context, or else that of the chosen device */
};

/* `body` is an expression of type cudaError_t; it is not evaluated if the call fails before it. */
#define CALL(needs, body) error_remember(call_begin(__func__, needs) ? (body) : call_refusal())

/* A body that is cudaErrorInvalidValue if a parameter that must not be NULL is NULL. */
#define CALL_UNLESS_NULL(pointer, body) ((pointer) ? (body) : cudaErrorInvalidValue)

/*
 * Defines both variants of a stream function from one body, which reads `form`: stream 0 is the
 * legacy stream in `name` and the per-thread default stream in name_ptsz (_ptds).
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

/* Returns false if the call must have no effect and return call_refusal(). */
bool call_begin(const char *function, enum call_needs needs);
cudaError_t call_refusal(void);

/* Returns the driver's table, for use in a body. It is never NULL if the call needs NEEDS_DRIVER or
 * more. */
const struct driver_table *call_driver(void);
