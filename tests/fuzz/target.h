/* SPDX-License-Identifier: MIT */
/*
 * The one function that libFuzzer, and feed.c, call of a target.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input. Returns 0, or does not return when the input broke something. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
