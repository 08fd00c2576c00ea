/* SPDX-License-Identifier: MIT */
/*
 * All stacks of the process as one tree of frames, shared by all threads: a stack is the id of its
 * innermost frame. A frame is written to the ring before any other thread can see its id, so no
 * stored event ever names a frame that is not stored. It must not know how a stack is taken.
 *
 * Lock-free, no malloc, callable from a hook.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_FRAME_TREE_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_FRAME_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/recording/thread.h"

#define FRAME_TREE_MAX ((uint32_t)1 << 21)

/* Reserves the tables (address space only; pages come as they are used). */
int frame_tree_setup(void);

/* A frame in one word: what the column frame.address holds, and its kind in the two bits that no
 * address of a program has. */
#define FRAME_WORD_KIND_SHIFT 62

static inline uint64_t frame_word(enum frame_kind kind, uint64_t address)
{
    return (uint64_t)kind << FRAME_WORD_KIND_SHIFT | address;
}

/* Frame id of a stack of `depth` words, innermost first; 0: no stack. When the tree is full, the id
 * of the outermost part that is known, and lost_frames counts it. */
uint32_t frame_tree_intern(struct thread *thread, const uint64_t *frames, uint32_t depth);

/* How deep the thread's last stack was; 0: it was cut. */
uint32_t frame_tree_last_depth(struct thread *thread);

/* One frame below parent_id (0: outermost). 0: the tree is full. */
uint32_t frame_tree_add(struct thread *thread, uint32_t parent_id, enum frame_kind kind,
                        uint64_t address);

#endif
