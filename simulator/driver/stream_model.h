/* SPDX-License-Identifier: MIT */
/*
 * What stream.c offers to the capture of streams alone.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_STREAM_MODEL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_STREAM_MODEL_H

#include "stream.h"

/* A number that is this stream's alone; a thread's own default stream has one too. 0: the legacy
 * stream, or no stream. */
uint64_t stream_key(const struct call *call, CUstream stream);
/* Does it wait for the legacy stream? */
bool stream_is_blocking(const struct call *call, CUstream stream);
struct context *stream_context(const struct call *call, CUstream stream);

#endif
