/* SPDX-License-Identifier: MIT */
/*
 * The one function of a target, which libFuzzer or feed.c calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Tries one input. Always returns 0; if the input breaks something, the function ends the
   process instead. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
