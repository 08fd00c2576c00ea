/* SPDX-License-Identifier: MIT */
/*
 * Reports of PyTorch's caching allocator. It reports to c10 every block that it hands out, takes
 * back or cannot give, even if no profiler listens, and with its lock held. c10's functions are
 * defined here under their own names, and forward. Nothing else of PyTorch is called, and Python's
 * lock is not taken.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "pool.h"
#include "torch.h"

#define POOL "pytorch"

/* c10::Device, which is passed in one register. */
struct device {
    int8_t type, index;
};

enum { DEVICE_TYPE_CUDA = 1, ROUND_BYTES = 512 };

/* Reports the request if the allocator did not cut the block to the request's rounded size. */
static void note_asked(const void *address, uint64_t block_bytes, int device)
{
    const uint64_t bytes = torch_take_asked();
    if (bytes && bytes < block_bytes && block_bytes - bytes >= ROUND_BYTES)
        pool_asked(device, (uint64_t)(uintptr_t)address, bytes);
}

/* CPU allocators report here, too. A block that other streams still use is reported when the
 * program frees it. The size is the block's, which may exceed the request. */
static void note_usage(const void *address, int64_t size_bytes, struct device device)
{
    if (device.type != DEVICE_TYPE_CUDA)
        return;
    if (size_bytes > 0) {
        note_asked(address, (uint64_t)size_bytes, device.index);
        torch_note_node();
        pool_alloc(POOL, device.index, (uint64_t)(uintptr_t)address, (uint64_t)size_bytes,
                   torch_stream(device.index));
    } else if (size_bytes < 0)
        pool_free(POOL, device.index, (uint64_t)(uintptr_t)address);
}

static void note_failure(int64_t size_bytes, struct device device)
{
    if (device.type != DEVICE_TYPE_CUDA)
        return;
    torch_note_node();
    pool_failed(POOL, device.index, (uint64_t)size_bytes, torch_stream(device.index));
}

#define FORWARDED(name, parameters, arguments, note)                                               \
    TORCH_FUNCTION(void, name, parameters, "libc10.so", note; return, {                            \
        note;                                                                                      \
        real arguments;                                                                            \
    })

/* One body for every type that the function has had. The totals are not used, because their meaning
 * differs (before or after the event). */
#define USAGE(name, total)                                                                         \
    FORWARDED(name,                                                                                \
              (void *address, int64_t size_bytes, total allocated, total reserved,                 \
               struct device device),                                                              \
              (address, size_bytes, allocated, reserved, device),                                  \
              note_usage(address, size_bytes, device))
#define FAILURE(name, size, total)                                                                 \
    FORWARDED(name, (size size_bytes, total allocated, total reserved, struct device device),      \
              (size_bytes, allocated, reserved, device),                                           \
              note_failure((int64_t)size_bytes, device))

/* c10::reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device), since 2.0; with two
 * int64_t since 1.11; without totals before */
USAGE(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, uint64_t)
USAGE(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, int64_t)
FORWARDED(_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE,
          (void *address, int64_t size_bytes, struct device device), (address, size_bytes, device),
          note_usage(address, size_bytes, device))

/* c10::reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device), and its older types */
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE, int64_t, uint64_t)
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE, int64_t, int64_t)
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE, uint64_t, uint64_t)
