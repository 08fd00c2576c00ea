/* SPDX-License-Identifier: MIT */
/*
 * Streams, events and the clock they tell. Work is done when the call that asks for it returns, so
 * a stream is never busy; the clock counts what was asked for, so every run measures the same
 * times.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_WORK_STREAM_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_WORK_STREAM_H

#include "simulator/driver/machine/call.h"

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

/* NULL: no such stream, or one of the default ones, which have no struct. */
struct stream *stream_find(CUstream handle);
/* NULL: out of memory. */
struct stream *stream_new(struct context *context);
/* false: the call's result is set, there is no such stream. */
bool stream_check(struct call *call, CUstream stream);
/* The device a checked stream belongs to. */
struct device *stream_device(const struct call *call, CUstream stream);
/* Work was done: the simulated clock moves on. */
void stream_work(uint64_t duration_ns);
/* Nanoseconds of work asked for since the process began. */
uint64_t stream_clock_ns(void);

/* A number that is this stream's alone; a thread's own default stream has one too. 0: the legacy
 * stream, or no stream. */
uint64_t stream_key(const struct call *call, CUstream stream);
/* Does it wait for the legacy stream? */
bool stream_is_blocking(const struct call *call, CUstream stream);
struct context *stream_context(const struct call *call, CUstream stream);

#endif
