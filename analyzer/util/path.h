/* SPDX-License-Identifier: MIT */
/* Names in paths. */
#pragma once

#include <string.h>

/* The last name in a path: "libfoo.so" of "/usr/lib/libfoo.so". */
static inline const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
