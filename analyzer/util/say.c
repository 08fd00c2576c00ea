/* SPDX-License-Identifier: MIT */
/* Messages on stderr; see say.h. */
#include "say.h"

#include <stdio.h>

#include "utf8.h"

void command_say(const char *name, const char *message)
{
    /*
     * Use a line buffer. Without it each character is a write of its own, and the text mixes with
     * that of other processes.
     */
    static char line[2048];
    setvbuf(stderr, line, _IOLBF, sizeof line);
    fprintf(stderr, "gpumemtrace: %s%s", name, *name ? ": " : "");
    while (*message)
        message += utf8_put(message, stderr);
    putc('\n', stderr);
}
