/* SPDX-License-Identifier: MIT */
/*
 * Makes libunwind test without a pipe whether memory is mapped. By itself, libunwind makes a pipe
 * at its first use and keeps it open. That would change the numbers of the program's descriptors.
 * And if the program closed all descriptors and opened its own files, libunwind would read, write
 * or close one of these files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct link_map;

/* Call it before the first unwinding. A libunwind without the public accessors keeps its pipe. */
void unwind_memory_install(const struct link_map *libunwind);

/* Can this word of the calling thread's stack be read? Keeps errno. */
bool unwind_memory_is_readable(uintptr_t address);
