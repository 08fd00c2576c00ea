/* SPDX-License-Identifier: MIT */
/*
 * Addresses of code that the recorder keeps: in a stack of the trace, in the unwinder's caches, as
 * a caller in resolve. Such an address must not later belong to another library.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Thread-safe; callable from a hook. */
void known_code_note(uintptr_t address);
/* Was code in this range noted? May be true for mere neighbours of noted code, but never false for
 * noted code. */
bool known_code_in(uintptr_t start, uintptr_t end);

#endif
