/* SPDX-License-Identifier: MIT */
/*
 * Streams, events and the clock they tell. Work is done when the call that asks for it returns, so
 * a stream is never busy; the clock counts what was asked for, so every run measures the same
 * times.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_STREAM_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_STREAM_H

#include "call.h"

#define WORK_LAUNCH_NS 10000
#define WORK_COPY_NS 1000
#define WORK_COPY_BYTES_PER_NS 16 /* about a PCIe 4 link */

/* false: the call's result is set, there is no such stream. */
bool stream_check(struct call *call, CUstream stream);
/* The device a checked stream belongs to. */
struct device *stream_device(const struct call *call, CUstream stream);
/* Work was done: the simulated clock moves on. */
void stream_work(uint64_t duration_ns);
/* Nanoseconds of work asked for since the process began. */
uint64_t stream_clock_ns(void);

#endif
