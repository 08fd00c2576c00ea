/* SPDX-License-Identifier: MIT */
/*
 * Entry and exit of every call. See call.h.
 */
#include "call.h"

#include <pthread.h>
#include <stdatomic.h>

#include "open_captures.h"
#include "common/sim_fault.h"

/* Protects everything except each thread's own context stack. The lock is not held while a function
 * of the program runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool in_host_function;

enum life { LIFE_NEW, LIFE_INITIALIZED, LIFE_FORKED };
/* Read without the lock, because in a forked child the lock may belong to a thread that no longer
 * exists. Acquire and release: a thread that reads LIFE_INITIALIZED also sees the devices. */
static _Atomic int life = LIFE_NEW;

/* Like the real driver, the simulated one does not work in a forked child. */
static void after_fork(void)
{
    atomic_store_explicit(&life, LIFE_FORKED, memory_order_relaxed);
}

static CUresult initialize_once(void)
{
    static CUresult result = CUDA_ERROR_NOT_INITIALIZED;
    if (result != CUDA_ERROR_NOT_INITIALIZED)
        return result;
    result = device_setup();
    if (!result && pthread_atfork(NULL, NULL, after_fork))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!result)
        atomic_store_explicit(&life, LIFE_INITIALIZED, memory_order_release);
    return result;
}

bool call_lock(void)
{
    if (atomic_load_explicit(&life, memory_order_relaxed) == LIFE_FORKED)
        return !pthread_mutex_trylock(&lock);
    return !pthread_mutex_lock(&lock);
}

void call_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

CUresult call_initialize(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load_explicit(&life, memory_order_relaxed) == LIFE_FORKED)
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    const CUresult result = initialize_once();
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult check_context(struct call *call)
{
    call->context = context_current();
    if (!call->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return call->context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool call_begin(struct call *call, const char *function, enum call_needs needs)
{
    *call = (struct call){.function = function, .result = (CUresult)fault_of(function)};
    if (call->result || needs == CALL_NEEDS_NOTHING)
        return !call->result;
    if (atomic_load_explicit(&life, memory_order_acquire) != LIFE_INITIALIZED) {
        call->result = CUDA_ERROR_NOT_INITIALIZED;
        return false;
    }
    if (needs >= CALL_NEEDS_CONTEXT && in_host_function) {
        call->result = CUDA_ERROR_NOT_PERMITTED;
        return false;
    }
    pthread_mutex_lock(&lock);
    call->locked = true;
    if (needs >= CALL_NEEDS_CONTEXT)
        call->result = check_context(call);
    if (needs == CALL_NEEDS_NO_CAPTURE && !call->result && !open_captures_permit())
        call->result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return !call->result;
}

CUresult call_end(struct call *call)
{
    if (call->locked)
        pthread_mutex_unlock(&lock);
    return call->result;
}

void call_host_begin(void)
{
    in_host_function = true;
}

void call_host_end(void)
{
    in_host_function = false;
}

struct device *call_device(struct call *call, CUdevice ordinal)
{
    struct device *device = device_at(ordinal);
    if (!device)
        call->result = CUDA_ERROR_INVALID_DEVICE;
    return device;
}

bool call_requires(struct call *call, bool condition)
{
    if (!condition)
        call->result = CUDA_ERROR_INVALID_VALUE;
    return condition;
}
