/* SPDX-License-Identifier: MIT */
/*
 * Errors of library functions. A function returns -1 and fills a struct err that the caller owns,
 * or returns 0 and leaves it unchanged. Nothing here prints, allocates or exits.
 *
 * A struct err belongs to one thread. Not callable from a hook, because it uses vsnprintf.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "compiler.h"

/* The code decides the exit status: 1 for ERR_FINDING, 0 for ERR_DONE, 2 for all others. */
enum err_code {
    ERR_NONE = 0,
    ERR_FINDING, /* a limit is exceeded, a regression was found */
    ERR_USAGE,   /* unknown command, option, size … */
    ERR_INPUT,   /* a file is missing, too new, wrong … */
    ERR_FOREIGN, /* a file is of another kind: not a trace */
    ERR_CUT, /* a file is empty or truncated, for example because a program is just creating it */
    ERR_SYSTEM,   /* the system failed: memory, disk, permission */
    ERR_INTERNAL, /* a bug in this project */
    ERR_DONE,     /* no error: the output (--help) was printed */
};

struct err {
    int code;
    char message[512]; /* one sentence without a full stop: what is wrong, where, what to do */
};

static inline int err_set(struct err *err, int code, const char *format, ...) GMT_PRINTF(3, 4);

/* Fills *err; a NULL err is allowed and ignored. Returns -1, which is the result of a function that
 * fails. */
static inline int err_set(struct err *err, int code, const char *format, ...)
{
    va_list arguments;
    if (!err)
        return -1;
    err->code = code;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return -1;
}
