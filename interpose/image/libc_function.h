/* SPDX-License-Identifier: MIT */
/*
 * Finds libc's own functions, even if another tool replaces them. It makes no dl* call and takes no
 * lock, so it is callable from anywhere. It uses only elf_image, because own_libc.c depends on this
 * file and all our code depends on own_libc.c.
 */
#pragma once

/* NULL: libc does not define it. */
void *libc_function(const char *name);
