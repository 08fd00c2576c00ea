/* SPDX-License-Identifier: MIT */
/*
 * Which code something is remembered of by its address: in stacks of the trace, by the unwinder, as
 * a caller. Addresses of such code must not come to mean another library. It must not know what is
 * remembered.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_KNOWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* From any thread, also on the hook path. */
void known_code_note(uintptr_t address);
/* May say yes where it is no, for neighbours of what was noted; never the other way round. */
bool known_code_in(uintptr_t start, uintptr_t end);

#endif
