/* SPDX-License-Identifier: MIT */
/*
 * Reports the calls of functions that the simulator does not model. The simulator counts them;
 * outside a dry run there are none.
 */
#pragma once

#include <stddef.h>

/* Adds the calls to the trace's list of what is not recorded (lookup/coverage.h). Call it once,
 * before the recording ends. */
void not_modelled_count(void);

/* Formats ", 12 calls of what the dry run does not model (cublasGemm 10 …)". If there are no such
 * calls, the text is "". */
void not_modelled_format(char *text, size_t text_bytes);
