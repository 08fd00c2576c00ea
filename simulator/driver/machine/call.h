/* SPDX-License-Identifier: MIT */
/*
 * One call of an exported function, from entry to return: ordered failures, the checks that all
 * functions share, the lock. Every exported function that touches state is
 *
 *     struct call call;
 *     if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT))
 *         call.result = …;
 *     return call_end(&call);
 *
 * One lock protects the whole simulated machine: devices, contexts, blocks, handles.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CALL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CALL_H

#include "context.h"

enum call_needs {
    CALL_NEEDS_NOTHING, /* not even cuInit */
    CALL_NEEDS_INIT,
    CALL_NEEDS_CONTEXT,    /* one that is alive and current */
    CALL_NEEDS_NO_CAPTURE, /* and that no capture is open that would miss what is done */
};

struct call {
    const char *function;
    struct context *context; /* the current one, where it is needed */
    CUresult result;
    bool locked;
};

/* false: the result is set already, the call is to have no effect. */
bool call_begin(struct call *call, const char *function, enum call_needs needs);
/* Returns the call's result. */
CUresult call_end(struct call *call);

/* For call_begin's caller who takes a device number; NULL: the result is set. */
struct device *call_device(struct call *call, CUdevice device);
/* false: the result is set; so it is where a parameter that must not be NULL is. */
bool call_requires(struct call *call, bool condition);

/* cuInit. */
CUresult call_initialize(unsigned flags);

/*
 * Defines a stream function and its twin for per-thread default streams by one body, which gets the
 * exported name first. The twins differ in the meaning of stream 0 alone, and here all work is done
 * when a call returns.
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

#endif
