/* SPDX-License-Identifier: MIT */
/* A run under another setting or on another card, as `frag --what-if` and `fit` describe it. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_WHATIF_H
#define GPUMEMTRACE_ANALYZER_PAGE_WHATIF_H

#include <stdio.h>

#include "page.h"

/* NULL: the trace has no memory of PyTorch's allocator on that device. */
const struct whatif_device *page_whatif_device(const struct study *study, int device);

/* True if the run's figures are lower bounds ("at least"). */
bool page_whatif_is_least(const struct whatif_run *run);

/* "PyTorch took 20.00 MiB at 0x…, although …": how the recording differs from the model. */
#define PAGE_DIFFERENCE_BYTES 320
const char *page_difference(const struct difference *found, char out[PAGE_DIFFERENCE_BYTES]);

/* "what_if" of the device, if it was asked for. */
page_device_part page_what_if;
/* The what-if figures of one device, as sentences. */
int page_what_if_answer(struct opening *opening, const struct study *study, const char *what_if,
                        int device);

#endif
