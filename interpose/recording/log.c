/* SPDX-License-Identifier: MIT */
/*
 * See log.h.
 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/printable.h"
#include "common/quiet_signal.h"

void log_line(const char *format, ...)
{
    char line[5120] = "gpumemtrace: ";
    const int saved_errno = errno;
    const size_t prefix = sizeof "gpumemtrace: " - 1;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    va_end(arguments);
    printable_make(line);
    size_t end = prefix + (length < 0 ? 0 : (size_t)length);
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    line[end++] = '\n';
    /* A failed write to stderr is ignored. */
    struct quiet_signal pipe_signal, size_signal;
    quiet_signal_begin(&pipe_signal, SIGPIPE);
    quiet_signal_begin(&size_signal, SIGXFSZ);
    const ssize_t written = write(STDERR_FILENO, line, end);
    (void)written;
    quiet_signal_end(&size_signal);
    quiet_signal_end(&pipe_signal);
    errno = saved_errno;
}
