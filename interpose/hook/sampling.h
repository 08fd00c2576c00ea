/* SPDX-License-Identifier: MIT */
/*
 * Questions to the driver that belong to a captured call, and the events that hold the answers:
 * free memory, a pool's reserved bytes, the first look at a context. It must not decide what is
 * captured. Each is called on the capturing thread between capture_begin and capture_leave.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H
#define GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H

#include "capture.h"

/* cuMemGetInfo as a child of the call. */
void sampling_device(struct capture *capture, int device);
/* The same before and after calls whose cost only that difference tells: modules and limits. */
void sampling_around(struct capture *capture);
/* After an allocation: what the context took, if this is the first look at the device. */
void sampling_context(struct capture *capture, const struct capture_facts *facts);
/* The pool an allocation came out of, if its reserved bytes changed: a child of the call. */
void sampling_pool(struct capture *capture, const struct capture_facts *facts);
/* After a call that may change what a pool holds: an event of its own if it did. */
void sampling_pool_call(struct capture *capture, const struct capture_facts *facts, int result);
/* After a launch, an upload or a trim: one event for each device whose graph pool changed. */
void sampling_graphs(struct capture *capture, const struct capture_facts *facts, int result);

#endif
