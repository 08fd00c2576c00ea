/* SPDX-License-Identifier: MIT */
/*
 * Errors of library functions: they return -1 and fill a struct err that the caller owns; on
 * success they return 0 and leave it untouched. It must not print, allocate or exit.
 *
 * A struct err belongs to one thread. Not callable from a hook: it uses vsnprintf.
 */
#ifndef GPUMEMTRACE_ERR_H
#define GPUMEMTRACE_ERR_H

#include <stdarg.h>
#include <stdio.h>

#include "compiler.h"

/* The code decides the exit status: 1 for ERR_FINDING, 0 for ERR_DONE, 2 for all others. */
enum err_code {
    ERR_NONE = 0,
    ERR_FINDING,  /* a limit is broken, a regression was found */
    ERR_USAGE,    /* unknown command, option, size … */
    ERR_INPUT,    /* a file that is missing, foreign, newer … */
    ERR_CUT,      /* a file that is empty or cut short, as one that is just being made */
    ERR_SYSTEM,   /* the system refused: memory, disk, permission */
    ERR_INTERNAL, /* a bug in this project */
    ERR_DONE,     /* no error: the answer (--help) is printed */
};

struct err {
    int code;
    char message[512]; /* one sentence without a full stop: what is wrong, where, what to do */
};

static inline void err_set(struct err *err, int code, const char *format, ...) GMT_PRINTF(3, 4);

/* Fills *err; a NULL err is allowed and ignored. */
static inline void err_set(struct err *err, int code, const char *format, ...)
{
    va_list arguments;
    if (!err)
        return;
    err->code = code;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
}

#endif
