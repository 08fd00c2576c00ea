/* SPDX-License-Identifier: MIT */
/* Words beside a result; see say.h. */
#include "say.h"

#include <stdio.h>

void command_say(const char *name, const char *message)
{
    fprintf(stderr, "gpumemtrace: %s%s", name, *name ? ": " : "");
    for (; *message; message++) {
        unsigned char byte = (unsigned char)*message;
        putc(byte < 0x20 || byte == 0x7f ? '?' : byte, stderr);
    }
    putc('\n', stderr);
}
