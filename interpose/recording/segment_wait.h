/* SPDX-License-Identifier: MIT */
/*
 * What a thread does that finds the ring full: it waits for the writer, so that a program that makes
 * events faster than they can be stored is slowed down and its trace stays whole. It must not know
 * what the segment is for.
 *
 * The wait ends without a segment, and the event is lost, when the writer cannot store events (as on
 * a full disk), when the recording ends, or when no segment is emptied for SEGMENT_WAIT_NS: then no
 * thread waits again until one is. Callable from a hook: no malloc, no lock.
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_SEGMENT_WAIT_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_SEGMENT_WAIT_H

#include <stdint.h>

#define SEGMENT_WAIT_NS 5000000000

struct ring_segment;

/* generation: of the recording that the calling thread belongs to. NULL: there is none. */
struct ring_segment *segment_wait(uint64_t generation);

#endif
