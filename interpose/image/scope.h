/* SPDX-License-Identifier: MIT */
/*
 * Finds the definition that the loader would have bound a name to without this library, which is
 * the next definition after ours. It never returns one of our functions.
 *
 * Thread-safe; callable from a hook, because the functions call no malloc and take no lock that is
 * ever held for long.
 */
#pragma once

#include <stdbool.h>

/* Returns the function that code at `caller` would get for this name (caller NULL: any code). NULL:
 * no object defines it. */
void *scope_function(const char *name, const void *caller);
/* Does any object define the name, other than this library and the object with the code at
 * `besides` (NULL: no such object)? */
bool scope_has(const char *name, const void *besides);
/* Is this function the only definition of the name outside this library? */
bool scope_is_only(const char *name, const void *function);
/* Returns the next definition of a libc function that this library replaces: the definition of
 * another library that is preloaded after ours, or of libc. */
void *scope_next(const char *name);
/* Returns the file of an object that comes before this library and also defines the name; NULL:
 * there is none. */
const char *scope_before(const char *name);
