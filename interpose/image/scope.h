/* SPDX-License-Identifier: MIT */
/*
 * What the loader would have bound a name to without this library: the next definition after ours.
 * It must not know what the functions do, and never gives one of ours.
 *
 * Thread-safe; callable from a hook: no malloc, no lock that anybody holds for long.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H

#include <stdbool.h>

/* The function that this name means for code at `caller` (NULL: for any code); NULL: no object
 * defines it. */
void *scope_function(const char *name, const void *caller);
/* Does any object define it, other than this library and the object of the code at `besides` (NULL:
 * none)? */
bool scope_has(const char *name, const void *besides);
/* Does every object but this library that defines the name define it as this function? */
bool scope_is_only(const char *name, const void *function);
/* The next definition of a function of libc that this library stands in for: libc's, or that of
 * another preloaded library after ours. */
void *scope_next(const char *name);
/* The file of an object before this library that defines it, too; NULL: none. */
const char *scope_before(const char *name);

#endif
