/* SPDX-License-Identifier: MIT */
/* Words beside a result; see say.h. */
#include "say.h"

#include <stdio.h>

#include "common/printable.h"

void command_say(const char *name, const char *message)
{
    char line[1024];
    snprintf(line, sizeof line, "gpumemtrace: %s%s%s", name, *name ? ": " : "", message);
    printable_make(line);
    fprintf(stderr, "%s\n", line);
}
