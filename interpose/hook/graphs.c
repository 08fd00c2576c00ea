/* SPDX-License-Identifier: MIT */
/*
 * See graphs.h.
 */
#include "graphs.h"

#include <stdatomic.h>

#include "interpose/cuda/device.h"

static _Atomic int open_captures;
static _Atomic uint64_t memory_devices;

_Static_assert(DEVICE_LIMIT <= 64, "one bit per device");

/* If a stream is destroyed during its capture, the count stays too high. The only effect is that
 * the driver is asked less often. */
void graphs_count_capture(int change)
{
    if (atomic_fetch_add_explicit(&open_captures, change, memory_order_relaxed) + change < 0)
        atomic_fetch_sub_explicit(&open_captures, change, memory_order_relaxed);
}

bool graphs_capture_is_open(void)
{
    return atomic_load_explicit(&open_captures, memory_order_relaxed) > 0;
}

/* Stream 0 cannot be captured, and asking about it may fail while another stream is captured. */
bool graphs_is_capturing(uint64_t stream)
{
    return stream && graphs_capture_is_open() && device_is_capturing(stream);
}

void graphs_expect_memory(int device)
{
    if (device >= 0 && device < DEVICE_LIMIT)
        atomic_fetch_or_explicit(&memory_devices, UINT64_C(1) << device, memory_order_relaxed);
}

uint64_t graphs_devices(void)
{
    return atomic_load_explicit(&memory_devices, memory_order_relaxed);
}

int graphs_first_device(uint64_t devices)
{
    int device = 0;
    while (!(devices & UINT64_C(1) << device))
        device++;
    return device;
}
