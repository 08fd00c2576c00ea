/* SPDX-License-Identifier: MIT */
/*
 * Explains a server's error in one line that says what is wrong and what to do. Also says whether
 * another attempt may succeed.
 */
#pragma once

#include <stdbool.h>

#include "gpumemtrace/err.h"

struct refusal_of {
    const char *name, *database, *user; /* the server, and the user of our login */
    const char *body, *redirected;      /* redirected: target of a redirect; "": none */
};
struct refusal_kind {
    bool is_fine; /* there is no error: the answer is a result */
    bool passes;  /* the server is busy: try again */
    int exception;
};

struct refusal_kind refusal_read(const struct refusal_of *of, long status, struct err *err);
