/* SPDX-License-Identifier: MIT */
/* Comma-separated lists of names, as in .def files. */
#pragma once

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* True if `name` is one of `names`, such as "a,b,c", in any case. */
static inline bool name_list_has(const char *names, const char *name)
{
    size_t length = strlen(name);
    while (length > 0) {
        size_t candidate = strcspn(names, ",");
        if (candidate == length && strncasecmp(names, name, length) == 0)
            return true;
        if (names[candidate] == '\0')
            return false;
        names += candidate + 1;
    }
    return false;
}
