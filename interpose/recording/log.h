/* SPDX-License-Identifier: MIT */
/*
 * The recorder's few messages: on stderr, never on stdout, one write each, without malloc.
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_LOG_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_LOG_H

#include <stdatomic.h>

#include "gpumemtrace/compiler.h"

/* "gpumemtrace: …\n". Keeps errno. */
void log_line(const char *format, ...) GMT_PRINTF(1, 2);

/* log_line, but only the first time that the process reaches this line of code. */
#define log_once(...)                                                                              \
    do {                                                                                           \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
        if (!atomic_flag_test_and_set(&said))                                                      \
            log_line(__VA_ARGS__);                                                                 \
    } while (0)

#endif
