/* SPDX-License-Identifier: MIT */
/*
 * Calls in a dry run of functions that the simulator does not model, as the simulator counts them.
 * Outside dry runs there are none. It must not know which functions those are.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_NOT_MODELLED_H
#define GPUMEMTRACE_INTERPOSE_LIFE_NOT_MODELLED_H

#include <stddef.h>

/* Puts them in the trace, among what is not recorded (lookup/coverage.h). Once, before the recording ends. */
void not_modelled_count(void);

/* ", 12 calls that the dry run does not model (cublasGemm 10, …)", or "". */
void not_modelled_format(char *text, size_t text_bytes);

#endif
