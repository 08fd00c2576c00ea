/* SPDX-License-Identifier: MIT */
/*
 * Life and death of contexts, and each thread's stack of them. See context.h.
 */
#include "context.h"

#include <stdlib.h>

#include "capture.h"
#include "host.h"
#include "tiles.h"

#define STACK_LIMIT 64

static _Thread_local struct context *stack[STACK_LIMIT];
static _Thread_local int depth;

static uint64_t last_id;

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

/* What the driver's documentation gives as defaults, or a current card reports. */
static void set_defaults(struct context *context)
{
    for (int i = 0; i < CU_LIMIT_MAX; i++)
        context->limits[i] = 0;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128;
    context->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    context->shared_config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    context->peers = 0;
}

static CUresult begin(struct context *context)
{
    const CUresult result = device_begin_context(context->device);
    if (result)
        return result;
    context->alive = true;
    set_defaults(context);
    return CUDA_SUCCESS;
}

static void end(struct context *context)
{
    capture_end_context(context);
    while (context->blocks)
        context_free_block(context->blocks);
    tiles_end_context(context);
    object_delete_all(context);
    device_end_context(context->device);
    context->alive = false;
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
    CUresult code = begin(context);
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

/* The struct stays: another thread may have it on its stack, and must find it not alive. */
void context_destroy(struct context *context)
{
    end(context);
    if (context_current() == context)
        context_pop();
}

CUresult context_retain_primary(struct device *device, struct context **context)
{
    if (!device->primary)
        device->primary = new_context(device);
    if (!device->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = device->primary->alive ? CUDA_SUCCESS : begin(device->primary);
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
        end(context);
    return CUDA_SUCCESS;
}

void context_reset_primary(struct device *device)
{
    if (device->primary && device->primary->alive)
        end(device->primary);
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
