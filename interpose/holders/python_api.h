/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions of the interpreter whose frames the recorder reads. The room holders/ is the
 * only part of the recorder that calls Python, and it does so only while the thread holds the GIL.
 */
#pragma once

struct python_api {
#define PYTHON_FUNCTION(result, name, parameters) result(*name) parameters;
#include "python_api.def"
    int (*is_initialized)(void), (*is_finalizing)(void);
    void *(*thread_state)(void), *(*holder_state)(void);               /* as in struct python */
    void (*enter_tracing)(void *state), (*leave_tracing)(void *state); /* since 3.11, else NULL */
};

/* Returns the functions; NULL: no interpreter is known, it lacks one of them, or the walk is not
 * tested with its version. Callable from a hook. */
const struct python_api *python_api(void);
