/* SPDX-License-Identifier: MIT */
/*
 * Streams and the simulated clock. Work is done when the call that submits it returns; progress.h
 * decides when the host learns that. The clock advances by fixed durations, so every run measures
 * the same times.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/progress.h"

#define STREAM_ID_LEGACY 1
#define STREAM_ID_PER_THREAD 2

#define WORK_LAUNCH_NS 10000
#define WORK_COPY_NS 1000
#define WORK_COPY_BYTES_PER_NS 16 /* about a PCIe 4 link */

struct stream {
    struct object object;
    unsigned flags;
    int priority;
    uint64_t id;
};

/* NULL: no such stream, or a default stream, which has no struct stream. */
struct stream *stream_find(CUstream handle);
/* NULL: out of memory. */
struct stream *stream_new(struct context *context);
/* false: there is no such stream and the call's result is set. */
bool stream_check(struct call *call, CUstream stream);
/* The device of a stream; call stream_check first. */
struct device *stream_device(const struct call *call, CUstream stream);
/* Advances the simulated clock. */
void stream_work(uint64_t duration_ns);
/* The simulated clock: nanoseconds of work submitted since the process began. */
uint64_t stream_clock_ns(void);

/* A unique number of this stream or per-thread default stream. 0: the legacy stream or an invalid
 * stream. */
uint64_t stream_key(const struct call *call, CUstream stream);
/* The name of the stream for progress.h. */
struct stream_name stream_name(const struct call *call, CUstream stream);
/* Whether the stream synchronizes with the legacy stream. */
bool stream_is_blocking(const struct call *call, CUstream stream);
struct context *stream_context(const struct call *call, CUstream stream);
