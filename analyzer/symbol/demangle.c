/* SPDX-License-Identifier: MIT */
/* Readable names of symbols, through libiberty; see demangle.h. */
#include "demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <string.h>

/* The length of "work" in "work.constprop.0" and in "work@@V1". */
static size_t length_without_suffix(const char *symbol)
{
    size_t length = 0;
    while (isalnum((unsigned char)symbol[length]) || symbol[length] == '_')
        length++;
    if (length > 0 && (symbol[length] == '@' ||
                       (symbol[length] == '.' && isalpha((unsigned char)symbol[length + 1]))))
        return length;
    return strlen(symbol);
}

/* Tries Rust first, because the old names of Rust are also valid C++ names, with a hash at the
 * end. */
char *demangle(const char *symbol)
{
    char *name = rust_demangle(symbol, DMGL_NO_OPTS);
    if (!name)
        name = cplus_demangle_v3(symbol, DMGL_NO_OPTS);
    return name ? name : strndup(symbol, length_without_suffix(symbol));
}
