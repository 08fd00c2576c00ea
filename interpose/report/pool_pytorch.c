/* SPDX-License-Identifier: MIT */
/*
 * Receives the reports of PyTorch's caching allocator. The allocator reports to c10 every block
 * that it hands out, takes back or cannot provide. It does so even if no profiler listens, and
 * while it holds its own lock. The reporting functions of c10 are hooked here under their own
 * names; each hook forwards the call to c10. Nothing else of PyTorch is called, and Python's lock
 * is not taken.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/holders/holders.h"
#include "pool.h"
#include "torch.h"

#define POOL "pytorch"

/* c10::Device, which is passed in one register. */
struct device {
    int8_t type, index;
};

enum { DEVICE_TYPE_CUDA = 1, ROUND_BYTES = 512 };

/* Reports the size of the request if the allocator did not cut the block to the rounded size of the
 * request. */
static void note_asked(const void *address, uint64_t block_bytes, int device)
{
    const uint64_t bytes = torch_take_asked();
    if (bytes && bytes < block_bytes && block_bytes - bytes >= ROUND_BYTES)
        pool_asked(device, (uint64_t)(uintptr_t)address, bytes);
}

/* Allocators of CPU memory also report here. If other streams still use a block, it is nevertheless
 * reported as soon as the program frees it. The size is that of the block, which may exceed the
 * request. */
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
    holders_note(size_bytes);
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

/* Defines one hook for each signature that the function has had. The totals are not used, because
 * in some releases they are from before the event and in others from after it. */
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

/* c10::reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device), since 2.0. From 1.11
 * on the totals were two int64_t; earlier releases had no totals. */
USAGE(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, uint64_t)
USAGE(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, int64_t)
FORWARDED(_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE,
          (void *address, int64_t size_bytes, struct device device), (address, size_bytes, device),
          note_usage(address, size_bytes, device))

/* c10::reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device), and its older signatures */
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE, int64_t, uint64_t)
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE, int64_t, int64_t)
FAILURE(_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE, uint64_t, uint64_t)
