/* SPDX-License-Identifier: MIT */
/*
 * All stacks of the process as one tree of frames, shared by all threads. The id of its innermost
 * frame stands for a stack. A frame is written to the ring before another thread can see its id, so
 * no stored event names a frame that is not stored. Lock-free, no malloc, callable from a hook.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_FRAME_TREE_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_FRAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/limits.h"
#include "interpose/recording/thread.h"

#define FRAME_TREE_MAX ((uint32_t)1 << 21)

_Static_assert(FRAME_TREE_MAX <= LIMIT_rows, "a reader takes every frame");

/* Reserves the tables, which take address space only; pages are added as they are used. -1: out of
 * memory. */
int frame_tree_setup(void);

/* A frame in one word: the value of the column frame.address, and its kind in the two highest bits,
 * which no address of a program uses. */
#define FRAME_WORD_KIND_SHIFT 62

static inline uint64_t frame_word(enum frame_kind kind, uint64_t address)
{
    return (uint64_t)kind << FRAME_WORD_KIND_SHIFT | address;
}

/* Frame id of a stack of `depth` words, innermost first; 0: no stack. If the tree is full,
 * *is_whole is false, the id is that of the outermost part that fits, and one lost_frames is
 * counted. */
uint32_t frame_tree_intern(struct thread *thread, const uint64_t *frames, uint32_t depth,
                           bool *is_whole);

#endif
