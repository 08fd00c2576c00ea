/* SPDX-License-Identifier: MIT */
/*
 * Addresses of code that something remembers: a stack in the trace, the unwinder, resolve for a
 * caller. Such an address must not come to mean another library. It must not know what is
 * remembered.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* From any thread, also in a hooked call. */
void known_code_note(uintptr_t address);
/* Was code between the two noted? May be true for mere neighbours of noted code, and is never false
 * for noted code. */
bool known_code_in(uintptr_t start, uintptr_t end);

#endif
