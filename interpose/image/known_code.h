/* SPDX-License-Identifier: MIT */
/*
 * Notes the addresses of code that the recorder keeps: in a stack of the trace, in the unwinder's
 * caches, or as a caller in resolve. Such an address must not belong to another library later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Thread-safe; callable from a hook. */
void known_code_note(uintptr_t address);
/* Was code in this range noted? The answer may be true for code that only lies near noted code, but
 * is never false for noted code. */
bool known_code_in(uintptr_t start, uintptr_t end);
