/* SPDX-License-Identifier: MIT */
/*
 * Creating and destroying contexts, and each thread's stack of them. See context.h.
 */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "gpumemtrace/compiler.h"
#include "host.h"

#define STACK_LIMIT 64
#define THREADS_PER_PROCESSOR 2048

static _Thread_local struct context *stack[STACK_LIMIT];
static _Thread_local int depth;

static uint64_t last_id, last_life_id;

struct context *context_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

struct context *context_find(CUcontext handle)
{
    struct context *context = object_find(handle, OBJECT_CONTEXT);
    return context && context->alive ? context : NULL;
}

CUresult context_push(struct context *context)
{
    if (depth == STACK_LIMIT)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

struct context *context_pop(void)
{
    return depth ? stack[--depth] : NULL;
}

CUresult context_set(struct context *context)
{
    context_pop();
    return context ? context_push(context) : CUDA_SUCCESS;
}

/* The default limits, from the driver's documentation or as a current card reports them. */
static const size_t limit_defaults[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
    [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128,
};

static void set_defaults(struct context *context)
{
    memcpy(context->limits, limit_defaults, sizeof context->limits);
    context->limit_bytes = 0;
    context->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    context->peers = 0;
}

/* Multiplies stack memory by the number of threads that a device can run at once, because each
 * thread has a stack. -1: the size overflows 64 bits. */
static int bytes_above_default(const struct context *context, CUlimit limit, uint64_t *size_bytes)
{
    const size_t value = context->limits[limit], usual = limit_defaults[limit];
    const uint64_t each = limit == CU_LIMIT_STACK_SIZE
                              ? (uint64_t)device_spec()->processor_count * THREADS_PER_PROCESSOR
                              : 1;
    uint64_t exact_bytes;
    *size_bytes = 0;
    if (value <= usual)
        return 0;
    return GMT_MUL_OVERFLOWS(value - usual, each, &exact_bytes) ||
                   round_up_overflows(exact_bytes, GRANULE_BYTES, size_bytes)
               ? -1
               : 0;
}

static int limits_bytes(const struct context *context, uint64_t *sum_bytes)
{
    uint64_t stack_bytes, heap_bytes, fifo_bytes;
    return bytes_above_default(context, CU_LIMIT_STACK_SIZE, &stack_bytes) ||
                   bytes_above_default(context, CU_LIMIT_MALLOC_HEAP_SIZE, &heap_bytes) ||
                   bytes_above_default(context, CU_LIMIT_PRINTF_FIFO_SIZE, &fifo_bytes) ||
                   GMT_ADD_OVERFLOWS(stack_bytes, heap_bytes, sum_bytes) ||
                   GMT_ADD_OVERFLOWS(*sum_bytes, fifo_bytes, sum_bytes)
               ? -1
               : 0;
}

CUresult context_set_limit(struct context *context, CUlimit limit, size_t value)
{
    const size_t before = context->limits[limit];
    uint64_t needed_bytes;
    CUresult result = CUDA_SUCCESS;
    context->limits[limit] = value;
    if (limits_bytes(context, &needed_bytes))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (needed_bytes > context->limit_bytes)
        result = device_charge(context->device, needed_bytes - context->limit_bytes);
    else
        device_discharge(context->device, context->limit_bytes - needed_bytes);
    if (result)
        context->limits[limit] = before;
    else
        context->limit_bytes = needed_bytes;
    return result;
}

static void context_end(struct context *context)
{
    while (context->blocks)
        context_free_block(context->blocks);
    object_delete_all(context);
    device_discharge(context->device, context->limit_bytes);
    device_end_context(context->device);
    context->alive = false;
}

static CUresult context_begin(struct context *context)
{
    CUresult result = device_begin_context(context->device);
    if (result)
        return result;
    context->alive = true;
    context->life_id = ++last_life_id;
    set_defaults(context);
    result = code_begin_context(context);
    if (result)
        context_end(context);
    return result;
}

static struct context *new_context(struct device *device)
{
    struct context *context = object_new(OBJECT_CONTEXT, NULL, sizeof *context);
    if (context) {
        context->device = device;
        context->id = ++last_id;
    }
    return context;
}

CUresult context_create(struct device *device, unsigned flags, struct context **result)
{
    struct context *context = new_context(device);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    context->retain_count = 1;
    CUresult code = context_begin(context);
    if (code) {
        object_delete(context);
        return code;
    }
    code = context_push(context);
    if (code)
        context_destroy(context);
    else
        *result = context;
    return code;
}

/* Keeps the struct, because another thread may have the context on its stack of contexts and must
 * see that the context is not alive. */
void context_destroy(struct context *context)
{
    context_end(context);
    if (context_current() == context)
        context_pop();
}

CUresult context_retain_primary(struct device *device, struct context **context)
{
    if (!device->primary)
        device->primary = new_context(device);
    if (!device->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = device->primary->alive ? CUDA_SUCCESS : context_begin(device->primary);
    if (result)
        return result;
    device->primary->retain_count++;
    *context = device->primary;
    return CUDA_SUCCESS;
}

CUresult context_release_primary(struct device *device)
{
    struct context *context = device->primary;
    if (!context || !context->retain_count)
        return CUDA_ERROR_INVALID_CONTEXT;
    context->retain_count--;
    if (!context->retain_count && context->alive)
        context_end(context);
    return CUDA_SUCCESS;
}

void context_reset_primary(struct device *device)
{
    if (device->primary && device->primary->alive)
        context_end(device->primary);
}

CUresult context_take(struct context *context, uint64_t size_bytes, struct span **span)
{
    uint64_t rounded_bytes;
    struct span *granule;
    if (size_bytes >= GRANULE_BYTES)
        return device_take(context->device, size_bytes, span);
    if (round_up_overflows(size_bytes, BLOCK_UNIT_BYTES, &rounded_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = heap_take(&context->small, rounded_bytes);
    if (*span)
        return CUDA_SUCCESS;
    const CUresult result = device_take(context->device, GRANULE_BYTES, &granule);
    if (result)
        return result;
    if (heap_add(&context->small, granule->address, granule->size_bytes, granule)) {
        device_give(context->device, granule);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *span = heap_take(&context->small, rounded_bytes);
    return *span ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult context_take_low(struct context *context, uint64_t size_bytes, struct span **span)
{
    return device_take_low(context->device, size_bytes, span);
}

void context_give(struct context *context, struct span *span)
{
    if (span->parent) {
        struct span *free_span = heap_give(&context->small, span);
        if (!span_is_region(free_span))
            return;
        span = free_span->parent;
        heap_drop(&context->small, free_span);
    }
    device_give(context->device, span);
}

void context_free_block(struct block *block)
{
    if (block->kind == BLOCK_OPENED || block->kind == BLOCK_IMPORTED)
        device_unreserve(block->device, block->span);
    else if (block->span)
        context_give(block->context, block->span);
    else if (block->kind == BLOCK_MANAGED || block->kind == BLOCK_PINNED)
        host_unmap(block->address, block->size_bytes);
    block_delete(block);
}
