/* SPDX-License-Identifier: MIT */
/*
 * Makes a thread that finds the ring full wait for the writer. This slows down a program that makes
 * events faster than they can be stored, but keeps its trace complete.
 *
 * The wait ends without a segment, and the event is lost, if the writer cannot store events (a full
 * disk), if the recording ends, or if no segment is emptied for SEGMENT_WAIT_NS. After such a
 * timeout no thread waits again until a segment is emptied. Callable from a hook: no malloc, no
 * lock.
 */
#pragma once

#include <stdint.h>

#define SEGMENT_WAIT_NS 5000000000

struct ring_segment;

/* generation: the generation of the calling thread's recording. Returns NULL if the wait ended
 * without a segment. */
struct ring_segment *segment_wait(uint64_t generation);
