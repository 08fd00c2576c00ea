/* SPDX-License-Identifier: MIT */
/*
 * The one function of a target, which libFuzzer or feed.c calls.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input. Always returns 0; if the input breaks something, the function ends the
   process instead. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
