/* SPDX-License-Identifier: MIT */
/*
 * libc's own functions, even if another tool replaces them. No dl* call and no lock; callable from
 * anywhere. It uses only elf_image, because own_libc.c is built on it and all our code on
 * own_libc.c.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_LIBC_FUNCTION_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_LIBC_FUNCTION_H

/* NULL: libc does not define it. */
void *libc_function(const char *name);

#endif
