/* SPDX-License-Identifier: MIT */
/*
 * Lets libunwind read memory that may not be mapped without its pipe. libunwind makes that pipe at
 * its first use and keeps it: the program's own files would get other numbers, and once it has closed
 * every descriptor and opened files of its own, libunwind would write to, read from or close one of
 * these. It must not know what is unwound.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_MEMORY_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

/* Before the first unwinding. A libunwind without the public accessors keeps its own way. */
void unwind_memory_install(const struct link_map *libunwind);

/* Can this word of the calling thread's stack be read? Keeps errno. */
bool unwind_memory_is_readable(uintptr_t address);

#endif
