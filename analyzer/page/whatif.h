/* SPDX-License-Identifier: MIT */
/* A run under another setting or on another card, as `frag --what-if` and `fit` describe it. */
#pragma once

#include <stdio.h>

#include "page.h"

/* Writes how the recording differs from the model: "PyTorch took 20.00 MiB at 0x…, although …". */
#define PAGE_DIFFERENCE_BYTES 320
const char *page_difference(const struct difference *found, char out[PAGE_DIFFERENCE_BYTES]);

/* Adds "what_if" of the device, if the user asked for it. */
page_device_part page_what_if;
/* Says the what-if figures of one device, in sentences. */
int page_what_if_answer(struct opening *opening, const struct study *study, const char *what_if,
                        int device);
