/* SPDX-License-Identifier: MIT */
/*
 * Keeps all stacks of the process as one tree of frames, which all threads share. A stack's id is
 * the id of its innermost frame. A frame is written to the ring before another thread can see its
 * id, so no stored event names a frame that is not stored. Lock-free, no malloc, callable from a
 * hook.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/limits.h"
#include "interpose/recording/thread.h"

#define FRAME_TREE_MAX ((uint32_t)1 << 21)

_Static_assert(FRAME_TREE_MAX <= LIMIT_rows, "a reader takes every frame");

/* Reserves the tables. At first they take only address space, because the kernel adds pages when
 * they are used. -1: out of memory. */
int frame_tree_setup(void);

/* A frame word has the value of the column frame.address, with the frame's kind in the two highest
 * bits, which no address of a program uses. */
#define FRAME_WORD_KIND_SHIFT 62

static inline uint64_t frame_word(enum frame_kind kind, uint64_t address)
{
    return (uint64_t)kind << FRAME_WORD_KIND_SHIFT | address;
}

/* Returns the frame id of a stack of `depth` words, innermost first; 0: there is no stack. If the
 * tree is full, *is_whole is set to false, the result is the id of the outermost part that fits,
 * and lost_frames is incremented by one. */
uint32_t frame_tree_intern(struct thread *thread, const uint64_t *frames, uint32_t depth,
                           bool *is_whole);
