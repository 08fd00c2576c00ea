/* SPDX-License-Identifier: MIT */
/*
 * Prints the recorder's few messages. Each message is one write to stderr, never to stdout, and
 * needs no malloc.
 */
#pragma once

#include <stdatomic.h>

#include "gpumemtrace/compiler.h"

/* Prints the line "gpumemtrace: …\n". Keeps errno. */
void log_line(const char *format, ...) GMT_PRINTF(1, 2);

/* Does the same as log_line, but only the first time that the process reaches this line of code. */
#define log_once(...)                                                                              \
    do {                                                                                           \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
        if (!atomic_flag_test_and_set(&said))                                                      \
            log_line(__VA_ARGS__);                                                                 \
    } while (0)
