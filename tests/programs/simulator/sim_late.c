/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests events that are reached only when the host waits for them (GPUMEMTRACE_EVENTS=late).
 */
#include "sim_device.h"

static CUevent events[4];
static CUstream streams[4];

static void begin_with(unsigned stream_flags)
{
    begin_cuda();
    for (int i = 0; i < 4; i++) {
        EXPECT(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), 0);
        EXPECT(cuStreamCreate(&streams[i], stream_flags), 0);
    }
}

static void begin(void)
{
    begin_with(CU_STREAM_NON_BLOCKING);
}

static void record(int event, int stream)
{
    EXPECT(cuEventRecord(events[event], streams[stream]), 0);
}

#define READY(event) EXPECT(cuEventQuery(events[event]), 0)
#define NOT_READY(event) EXPECT(cuEventQuery(events[event]), CUDA_ERROR_NOT_READY)

PART(what_was_never_recorded_is_reached)
{
    begin();
    READY(0);
    EXPECT(cuStreamQuery(streams[0]), 0);
    EXPECT(cuEventSynchronize(events[0]), 0);
}

PART(an_event_is_reached_when_the_host_waits_for_it)
{
    begin();
    record(0, 0);
    NOT_READY(0);
    EXPECT(cuStreamQuery(streams[0]), CUDA_ERROR_NOT_READY);
    EXPECT(cuEventSynchronize(events[0]), 0);
    READY(0);
    EXPECT(cuStreamQuery(streams[0]), 0);
    record(0, 0);
    NOT_READY(0);
}

PART(earlier_work_of_its_stream_is_reached_with_it)
{
    begin();
    record(0, 0);
    record(1, 0);
    record(2, 0);
    record(3, 1);
    EXPECT(cuEventSynchronize(events[1]), 0);
    READY(0);
    READY(1);
    NOT_READY(2);
    NOT_READY(3);
}

PART(waiting_for_a_stream_reaches_its_events_alone)
{
    begin();
    record(0, 0);
    record(1, 1);
    EXPECT(cuStreamSynchronize(streams[0]), 0);
    READY(0);
    NOT_READY(1);
}

PART(waiting_for_the_context_reaches_all)
{
    begin();
    record(0, 0);
    record(1, 1);
    EXPECT(cuEventRecord(events[2], NULL), 0);
    EXPECT(cuCtxSynchronize(), 0);
    READY(0);
    READY(1);
    READY(2);
}

/* Stream 1 waits for stream 0, and stream 2 for stream 1. So when stream 2 is reached, all are
   reached. */
PART(what_a_stream_waited_for_is_reached_with_it)
{
    begin();
    record(0, 0);
    EXPECT(cuStreamWaitEvent(streams[1], events[0], 0), 0);
    record(1, 1);
    EXPECT(cuStreamWaitEvent(streams[2], events[1], 0), 0);
    record(2, 2);
    record(3, 0);
    NOT_READY(0);
    EXPECT(cuStreamSynchronize(streams[2]), 0);
    READY(0);
    READY(1);
    READY(2);
    NOT_READY(3);
}

PART(an_event_before_the_wait_does_not_depend_on_it)
{
    begin();
    record(1, 1);
    record(0, 0);
    EXPECT(cuStreamWaitEvent(streams[1], events[0], 0), 0);
    EXPECT(cuEventSynchronize(events[1]), 0);
    READY(1);
    NOT_READY(0);
}

PART(a_copy_that_returns_when_it_is_done_waits_for_the_legacy_stream)
{
    static char host[64];
    CUdeviceptr device;
    begin();
    EXPECT(cuMemAlloc_v2(&device, sizeof host), 0);
    EXPECT(cuEventRecord(events[0], NULL), 0);
    record(1, 0);
    EXPECT(cuMemcpyHtoDAsync_v2(device, host, sizeof host, NULL), 0);
    NOT_READY(0);
    EXPECT(cuMemcpyDtoH_v2(host, device, sizeof host), 0);
    READY(0);
    NOT_READY(1); /* the stream does not wait for the legacy stream */
}

/* The expected results are those of an H100. */
PART(a_copy_to_pageable_memory_waits_for_its_stream_and_one_to_pinned_memory_does_not)
{
    static char page[64];
    CUdeviceptr device;
    void *pinned;
    begin();
    EXPECT(cuMemAlloc_v2(&device, sizeof page), 0);
    EXPECT(cuMemHostAlloc(&pinned, sizeof page, 0), 0);
    record(0, 0);
    EXPECT(cuMemcpyDtoHAsync_v2(pinned, device, sizeof page, streams[0]), 0);
    EXPECT(cuMemcpyHtoDAsync_v2(device, page, sizeof page, streams[0]), 0);
    EXPECT(cuMemsetD8_v2(device, 0, sizeof page), 0);
    NOT_READY(0);
    EXPECT(cuMemcpyDtoHAsync_v2(page, device, sizeof page, streams[0]), 0);
    READY(0);
}

PART(a_copy_on_the_device_waits_for_nothing)
{
    CUdeviceptr device;
    begin();
    EXPECT(cuMemAlloc_v2(&device, 128), 0);
    EXPECT(cuEventRecord(events[0], NULL), 0);
    EXPECT(cuMemcpyDtoD_v2(device, device + 64, 64), 0);
    NOT_READY(0);
}

PART(freeing_waits_for_the_context)
{
    CUdeviceptr device;
    void *pinned;
    begin();
    EXPECT(cuMemAlloc_v2(&device, 64), 0);
    EXPECT(cuMemHostAlloc(&pinned, 64, 0), 0);
    record(0, 0);
    EXPECT(cuMemFree_v2(device), 0);
    READY(0);
    record(1, 1);
    EXPECT(cuMemFreeHost(pinned), 0);
    READY(1);
}

PART(the_legacy_stream_and_blocking_ones_come_after_each_other)
{
    begin_with(CU_STREAM_DEFAULT);
    record(0, 0);
    record(1, 1);
    EXPECT(cuStreamSynchronize(streams[0]), 0);
    READY(0);
    NOT_READY(1); /* the streams do not wait for each other */
    EXPECT(cuEventRecord(events[2], NULL), 0);
    record(3, 0);
    EXPECT(cuStreamSynchronize(streams[0]), 0);
    READY(3);
    READY(2);
    READY(1);
}

PART(a_destroyed_stream_still_ends)
{
    begin();
    record(0, 0);
    EXPECT(cuStreamDestroy_v2(streams[0]), 0);
    NOT_READY(0);
    EXPECT(cuCtxSynchronize(), 0);
    READY(0);
}

static void note(void *place)
{
    *(int *)place += 1;
}

PART(a_host_function_that_ran_came_after_all_before_it)
{
    int count = 0;
    begin();
    record(0, 0);
    EXPECT(cuLaunchHostFunc(streams[0], note, &count), 0);
    EXPECT(count, 1);
    READY(0);
}

PART(times_are_known_when_both_ends_are_reached)
{
    CUevent start, end;
    float milliseconds;
    begin();
    EXPECT(cuEventCreate(&start, CU_EVENT_DEFAULT), 0);
    EXPECT(cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
    EXPECT(cuEventRecord(start, NULL), 0);
    EXPECT(cuEventRecord(end, NULL), 0);
    EXPECT(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
    EXPECT(cuEventSynchronize(end), 0);
    EXPECT(cuEventElapsedTime(&milliseconds, start, end), 0);
}

/* The loop `while (cuEventQuery(event) == CUDA_ERROR_NOT_READY);` must end. */
PART(the_hundredth_question_in_a_row_is_answered)
{
    begin();
    record(0, 0);
    for (int i = 1; i < 100; i++)
        NOT_READY(0);
    READY(0);
    record(0, 0);
    for (int i = 1; i < 100; i++)
        EXPECT(cuStreamQuery(streams[0]), CUDA_ERROR_NOT_READY);
    EXPECT(cuStreamQuery(streams[0]), 0);
    READY(0);
}

PART(with_work_between_it_is_the_thousandth)
{
    begin();
    record(0, 0);
    for (int i = 1; i < 1000; i++) {
        NOT_READY(0);
        record(1, 1);
    }
    READY(0);
    NOT_READY(1);
}

PART(streams_without_end_are_forgotten_when_they_are_idle)
{
    CUstream stream;
    begin();
    record(0, 0);
    for (int i = 0; i < 5000; i++) {
        EXPECT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
        EXPECT(cuEventRecord(events[1], stream), 0);
        EXPECT(cuEventSynchronize(events[1]), 0);
        EXPECT(cuStreamDestroy_v2(stream), 0);
    }
    NOT_READY(0);
    record(2, 1);
    NOT_READY(2);
    READY(1);
}

SIM_MAIN()
