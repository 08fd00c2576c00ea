/* SPDX-License-Identifier: MIT */
/*
 * What the loader would have bound a name to without this library: the next definition behind ours.
 * It must not know what the functions do, nor hand any of ours out.
 *
 * Thread-safe; callable from a hook: no malloc, no lock that anybody holds for long.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_SCOPE_H

#include <stdbool.h>

/* The function that this name means for code at `caller` (NULL: for any code); NULL: no
 * object has it. */
void *scope_function(const char *name, const void *caller);
/* Does any object define it, but this one and that of the code at `besides` (NULL: none)? */
bool scope_has(const char *name, const void *besides);
/* Is this function what the name means for everybody, no other object defining it but this one? */
bool scope_is_only(const char *name, const void *function);
/* A function of libc that this library stands in for, or of another preloaded library that does so
 * too and comes behind ours. */
void *scope_next(const char *name);
/* The file of an object that comes before this library and defines it, too; NULL: none. */
const char *scope_before(const char *name);

#endif
