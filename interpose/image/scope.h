/* SPDX-License-Identifier: MIT */
/*
 * The definition that the loader would have bound a name to without this library: the next one
 * after ours. Never returns one of our functions.
 *
 * Thread-safe; callable from a hook: no malloc, no lock that anybody holds for long.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H

#include <stdbool.h>

/* The function that code at `caller` gets for this name (NULL: any code). NULL: no object defines
 * it. */
void *scope_function(const char *name, const void *caller);
/* Does any object define the name, other than this library and the object with the code at
 * `besides` (NULL: no such object)? */
bool scope_has(const char *name, const void *besides);
/* Do all objects except this library that define the name define it as this function? */
bool scope_is_only(const char *name, const void *function);
/* The next definition of a libc function that this library replaces: libc's, or that of another
 * preloaded library after ours. */
void *scope_next(const char *name);
/* The file of an object before this library that also defines the name; NULL: none. */
const char *scope_before(const char *name);

#endif
