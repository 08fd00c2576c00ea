/* SPDX-License-Identifier: MIT */
/*
 * One call of an exported function, from entry to return: injected failures, the checks that all
 * functions share, the lock. Every exported function that touches state has this form:
 *
 *     struct call call;
 *     if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT))
 *         call.result = …;
 *     return call_end(&call);
 *
 * One lock protects the whole simulated machine: devices, contexts, blocks, handles.
 */
#pragma once

#include "context.h"

enum call_needs {
    CALL_NEEDS_NOTHING, /* works before cuInit */
    CALL_NEEDS_INIT,
    CALL_NEEDS_CONTEXT,    /* a live current context */
    CALL_NEEDS_NO_CAPTURE, /* a live context, and no capture that forbids the call */
};

struct call {
    const char *function;
    struct context *context; /* the current context, if needed */
    CUresult result;
    bool locked;
};

/* Returns false if the call must have no effect; call->result is then set. */
bool call_begin(struct call *call, const char *function, enum call_needs needs);
/* Returns the call's result. */
CUresult call_end(struct call *call);

/* Returns the device with this number. If there is none, sets the call's result and returns
 * NULL. */
struct device *call_device(struct call *call, CUdevice device);
/* Checks a condition on the parameters of the call. If it is false, sets the call's result to
 * CUDA_ERROR_INVALID_VALUE and returns false. */
bool call_requires(struct call *call, bool condition);

/* Mark the calling thread while it runs a host function of a stream or graph. The function may not
 * call CUDA: calls that need a context fail with CUDA_ERROR_NOT_PERMITTED, as with NVIDIA's
 * driver. */
void call_host_begin(void);
void call_host_end(void);

/* Takes the lock outside an API call; it may be called before cuInit. Returns false in a forked
 * child, because the parent may have held the lock. */
bool call_lock(void);
void call_unlock(void);

/* cuInit. */
CUresult call_initialize(unsigned flags);

/*
 * Defines a stream function and its variant for the per-thread default stream from one body, whose
 * first argument is the exported name. The variants differ only in the stream that the handle 0
 * means.
 */
#define TWIN(suffix, name, parameters, ...)                                                        \
    CUresult name parameters                                                                       \
    {                                                                                              \
        return do_##name(#name, __VA_ARGS__);                                                      \
    }                                                                                              \
    CUresult name##suffix parameters                                                               \
    {                                                                                              \
        return do_##name(#name #suffix, __VA_ARGS__);                                              \
    }
