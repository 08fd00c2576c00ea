/* SPDX-License-Identifier: MIT */
/*
 * See libc_function.h. Takes no lock, because libc is never closed.
 */
#include "libc_function.h"

#include <link.h>
#include <stddef.h>

#include "elf_image.h"

static void *function_of(const char *library, const char *name)
{
    for (const struct link_map *image = _r_debug.r_map; image; image = image->l_next)
        if (elf_image_is(image, library))
            return elf_image_symbol(image, name);
    return NULL;
}

void *libc_function(const char *name)
{
    void *function = function_of("libc.so.6", name);
    return function ? function : function_of("libdl.so.2", name); /* before glibc 2.34 */
}
