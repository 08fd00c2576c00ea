/* SPDX-License-Identifier: MIT */
/*
 * Functions of libc itself, whatever other tool stands before it. No dl* call and no lock; callable
 * from anywhere. It must not use anything of ours but elf_image: own_libc.c is built on it, and
 * everything of ours on that.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_LIBC_FUNCTION_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_LIBC_FUNCTION_H

/* NULL: libc has none of this name. */
void *libc_function(const char *name);

#endif
