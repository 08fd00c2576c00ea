/* SPDX-License-Identifier: MIT */
/*
 * Puts the native frames and the frames of the sources into one order.
 *
 *     innermost   libcudart, ctypes …                native, called by Python
 *                 inner, outer                       Python, run by the next loop
 *                 _PyEval_EvalFrameDefault           native: the loop, and what called it
 *                 qsort, ctypes …                    native, called by Python
 *                 sorted_by, <module>                Python, run by the next loop
 *                 _PyEval_EvalFrameDefault, main …   native
 *
 * If the interpreter's loop cannot be told from other code, or no native frame lies in it, the
 * source's frames come first, then its unplaced_label, then the native frames.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "interpose/recording/thread.h"
#include "stack_parts.h"

struct native_frames {
    void *const *frames;
    unsigned count;
    bool whole; /* the frames reach the start of the thread or of main */
};

/* sources[i] has the frames of parts->sources[i]. Fills words[STACK_FRAMES_MAX] and returns the
 * number of words. */
unsigned merge_frames(struct thread *thread, const struct stack_parts *parts,
                      const struct native_frames *native, const struct source_frames *sources,
                      uint64_t *words);
