/* SPDX-License-Identifier: MIT */
/*
 * See device.h.
 */
#include "device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "interpose/image/image_list.h"

#define DRIVER "libcuda.so"

/* The driver's functions, by their exported names. A function that is missing is searched again at
 * the next call, because libcuda may not be loaded yet. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuCtxGetApiVersion, (CUcontext, unsigned *))                                                 \
    X(cuCtxGetCurrent, (CUcontext *))                                                              \
    X(cuCtxGetDevice, (CUdevice *))                                                                \
    X(cuDeviceGetCount, (int *))                                                                   \
    X(cuDeviceGetGraphMemAttribute, (CUdevice, CUgraphMem_attribute, void *))                      \
    X(cuDeviceGetMemPool, (CUmemoryPool *, CUdevice))                                              \
    X(cuDeviceGetName, (char *, int, CUdevice))                                                    \
    X(cuDeviceGetUuid, (CUuuid *, CUdevice))                                                       \
    X(cuDeviceTotalMem_v2, (size_t *, CUdevice))                                                   \
    X(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *))                                   \
    X(cuDriverGetVersion, (int *))                                                                 \
    X(cuGraphicsResourceGetMappedPointer_v2, (CUdeviceptr *, size_t *, CUgraphicsResource))        \
    X(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr))                             \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                       \
    X(cuMemPoolGetAttribute, (CUmemoryPool, CUmemPool_attribute, void *))                          \
    X(cuPointerGetAttribute, (void *, CUpointer_attribute, CUdeviceptr))                           \
    X(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *))

#define X(name, parameters)                                                                        \
    typedef CUresult(*ask_##name##_function) parameters;                                           \
    static ask_##name##_function ask_##name(void)                                                  \
    {                                                                                              \
        static _Atomic(void *) cached;                                                             \
        return GMT_FUNCTION(ask_##name##_function, image_list_function(&cached, DRIVER, #name));   \
    }
DRIVER_FUNCTIONS(X)
#undef X

/* Calls a driver function. Its value is false if the function is missing or fails. */
#define ASK(name, ...) (ask_##name() && ask_##name()(__VA_ARGS__) == CUDA_SUCCESS)

/* The context that was current when this thread last asked the driver, and the device of that
 * context. */
struct known_context {
    uint64_t context, epoch;
    int device;
};
static struct thread_part part = THREAD_PART(struct known_context, sizeof(struct known_context));

static _Atomic uint64_t context_epoch = 1;
static _Atomic uint64_t introduced, looked_at; /* one bit per device */

_Static_assert(DEVICE_LIMIT <= 64, "one bit per device");

static uint64_t current_context(void)
{
    CUcontext context = NULL;
    return ASK(cuCtxGetCurrent, &context) ? (uint64_t)(uintptr_t)context : 0;
}

int device_current(struct thread *thread)
{
    struct known_context *known = thread_part(thread, &part);
    const uint64_t context = current_context();
    const uint64_t epoch = atomic_load_explicit(&context_epoch, memory_order_relaxed);
    CUdevice device = DEVICE_UNKNOWN;
    if (!context)
        return DEVICE_UNKNOWN;
    if (GMT_LIKELY(known->context == context && known->epoch == epoch))
        return known->device;
    if (!ASK(cuCtxGetDevice, &device))
        return DEVICE_UNKNOWN;
    *known = (struct known_context){context, epoch, device};
    return device;
}

uint64_t device_current_context(struct thread *thread)
{
    const struct known_context *known = thread_part(thread, &part);
    return known->context;
}

int device_of_address(uint64_t address)
{
    int device = DEVICE_UNKNOWN;
    if (!ASK(cuPointerGetAttribute, &device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ||
        device < 0)
        return DEVICE_CURRENT;
    return device;
}

void device_forget_contexts(void)
{
    atomic_fetch_add_explicit(&context_epoch, 1, memory_order_relaxed);
}

uint64_t device_mempool(int device)
{
    CUmemoryPool pool = NULL;
    return ASK(cuDeviceGetMemPool, &pool, device) ? (uint64_t)(uintptr_t)pool : 0;
}

bool device_mempool_usage(uint64_t handle, struct device_mempool_usage *usage)
{
    const CUmemoryPool pool = (CUmemoryPool)(uintptr_t)handle;
    return handle &&
           ASK(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &usage->used_bytes) &&
           ASK(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
               &usage->reserved_bytes);
}

bool device_graph_usage(int device, struct device_mempool_usage *usage)
{
    return ASK(cuDeviceGetGraphMemAttribute, device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
               &usage->used_bytes) &&
           ASK(cuDeviceGetGraphMemAttribute, device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
               &usage->reserved_bytes);
}

uint64_t device_range_bytes(uint64_t address)
{
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    return ASK(cuMemGetAddressRange_v2, &base, &size_bytes, address) ? size_bytes : 0;
}

uint64_t device_graphics_bytes(CUgraphicsResource resource)
{
    CUdeviceptr address = 0;
    size_t size_bytes = 0;
    return ASK(cuGraphicsResourceGetMappedPointer_v2, &address, &size_bytes, resource) ? size_bytes
                                                                                       : 0;
}

bool device_is_capturing(uint64_t stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return ASK(cuStreamIsCapturing, (CUstream)(uintptr_t)stream, &status) &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool device_memory(struct device_memory *memory)
{
    size_t free_bytes = 0, total_bytes = 0;
    if (!ASK(cuMemGetInfo_v2, &free_bytes, &total_bytes))
        return false;
    *memory = (struct device_memory){free_bytes, total_bytes};
    return true;
}

bool device_context_exists(CUcontext context)
{
    unsigned version = 0;
    return ASK(cuCtxGetApiVersion, context, &version);
}

bool device_primary_inactive(int device)
{
    unsigned flags = 0;
    int active = 1;
    return ASK(cuDevicePrimaryCtxGetState, device, &flags, &active) && !active;
}

int device_driver_version(void)
{
    int version = 0;
    return ASK(cuDriverGetVersion, &version) ? version : 0;
}

bool device_is_simulated(void)
{
    _Atomic(void *) found = NULL;
    return image_list_function(&found, DRIVER, "gpumemtrace_simulator") != NULL;
}

void device_setup(void)
{
    atomic_store(&introduced, 0);
    atomic_store(&looked_at, 0);
    device_forget_contexts();
}

enum { UUID_TEXT_BYTES = 64 };

/* "GPU-" and the 16 bytes in hexadecimal, as nvidia-smi shows them. */
static int format_uuid(const CUuuid *uuid, char *text, size_t text_bytes)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    return snprintf(text, text_bytes,
                    "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                    b[13], b[14], b[15]);
}

int device_of_uuid(const char *text)
{
    char own_text[UUID_TEXT_BYTES];
    int count = 0;
    CUuuid uuid;
    if (!ASK(cuDeviceGetCount, &count))
        return DEVICE_UNKNOWN;
    for (int i = 0; i < count; i++)
        if (ASK(cuDeviceGetUuid, &uuid, i) && format_uuid(&uuid, own_text, sizeof own_text) &&
            strcmp(text, own_text) == 0)
            return i;
    return DEVICE_UNKNOWN;
}

static bool has_bit(const _Atomic uint64_t *set, int device)
{
    return device < 0 || device >= DEVICE_LIMIT ||
           atomic_load_explicit(set, memory_order_relaxed) >> device & 1;
}

/* Returns true if this call has set the bit. */
static bool set_bit(_Atomic uint64_t *set, int device)
{
    return !has_bit(set, device) &&
           !(atomic_fetch_or_explicit(set, UINT64_C(1) << device, memory_order_relaxed) >> device &
             1);
}

bool device_is_looked_at(int device)
{
    return has_bit(&looked_at, device);
}

bool device_first_look(int device)
{
    return set_bit(&looked_at, device);
}

void device_introduce(struct thread *thread, int device)
{
    if (GMT_LIKELY(!set_bit(&introduced, device)))
        return;
    char text[320] = "";
    size_t total_bytes = 0;
    CUuuid uuid;
    size_t length = 0;
    if (ASK(cuDeviceGetUuid, &uuid, device))
        length = (size_t)format_uuid(&uuid, text, UUID_TEXT_BYTES);
    if (!ASK(cuDeviceGetName, text + length + 1, 255, device))
        text[length + 1] = '\0';
    (void)ASK(cuDeviceTotalMem_v2, &total_bytes, device);
    const struct ring_slot record = {.seq = (uint64_t)device, .size_bytes = total_bytes};
    thread_define(thread, SLOT_DEVICE, &record, text, length + 1 + strlen(text + length + 1));
}
