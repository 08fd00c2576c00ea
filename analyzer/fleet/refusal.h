/* SPDX-License-Identifier: MIT */
/*
 * What the answer of a server means that is no result: one line of what is wrong and what to do, and whether it may pass.
 * It must not know how answers are fetched.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_REFUSAL_H
#define GPUMEMTRACE_ANALYZER_FLEET_REFUSAL_H

#include <stdbool.h>

#include "gpumemtrace/err.h"

struct refusal_of {
    const char *name, *database, *user; /* of the server, and who asked */
    const char *body, *redirected;      /* redirected: where an answer points to, "": nowhere */
};
struct refusal_kind {
    bool is_fine; /* it is a result */
    bool passes;  /* the server has too much to do */
    int exception;
};

struct refusal_kind refusal_read(const struct refusal_of *of, long status, struct err *err);

#endif
