/* SPDX-License-Identifier: MIT */
/*
 * How libunwind reads memory that may not be there. Its own way asks through a pipe, made at its
 * first use for the life of the process; once the program has closed every descriptor and opened
 * files of its own, that pipe is one of them, and is read from or closed. It must not know what is
 * unwound.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_MEMORY_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

/* Gives libunwind a way to read that needs no descriptor. Before its first unwinding; a version
 * that cannot be told keeps its own way. */
void unwind_memory_install(const struct link_map *libunwind);

/* May a word of the calling thread's stack be read? Keeps errno. */
bool unwind_memory_is_readable(uintptr_t address);

#endif
