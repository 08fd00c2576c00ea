/* SPDX-License-Identifier: MIT */
/*
 * Hooks of PyTorch's own functions. A hook has the function's own name, which PyTorch's libraries
 * call through the loader; it forwards the call and notes its arguments or result. No other
 * function of PyTorch is called.
 *
 * PyTorch may hold its allocator's lock, or Python's lock, during such a call. So a hook takes no
 * lock and calls no malloc. If the real function throws a C++ exception, the statements after the
 * call are skipped. A hook leaves errno as the real function set it.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/scope.h"

/* Defines a hook. The last arguments are the body of the hook: statements that use `real` and
 * `parameters`. If the real function is not found, the hook runs `missing` instead. */
#define TORCH_FUNCTION(type, name, parameters, library, missing, ...)                              \
    GMT_EXPORT type name parameters;                                                               \
    type name parameters                                                                           \
    {                                                                                              \
        typedef type function parameters;                                                          \
        static _Atomic(void *) cached;                                                             \
        function *const real = GMT_FUNCTION(                                                       \
            function *, torch_function(&cached, library, #name, GMT_CALLER_ADDRESS()));            \
        if (GMT_UNLIKELY(!real)) {                                                                 \
            missing;                                                                               \
        }                                                                                          \
        __VA_ARGS__                                                                                \
    }

/* The first two members of libstdc++'s std::string. */
struct torch_string {
    const char *text;
    size_t text_bytes;
};

/*
 * The mangled name of a C++ function does not show the type of its result, and releases of PyTorch
 * change that type: rebase_history returns nothing in 2.6 and an object in 2.15. So a hook forwards
 * such a call with all argument registers, and returns both result registers (GMT_PASSES_CALLS_ON).
 * If the result lies in memory, one of the argument registers holds its address. On AArch64, a
 * separate register holds that address.
 */
struct torch_words {
    uintptr_t first, second;
};
#define TORCH_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f

/* Returns the library's function. If PyTorch is linked into another library, returns the function
 * that the caller would have called without the recorder. */
static inline void *torch_function(_Atomic(void *) *cached, const char *library, const char *name,
                                   const void *caller)
{
    void *function = image_list_function(cached, library, name);
    return GMT_LIKELY(function != NULL) ? function : scope_function(name, caller);
}

/* Returns the stream that PyTorch's allocator last used on this thread for this device, as the
 * driver's number. STREAM_UNKNOWN: the allocator has used none yet. */
uint64_t torch_stream(int device);

/* Call it before a tensor's event. Writes the autograd node that this thread works for, if that
 * node has changed since the last call. */
void torch_note_node(void);

/* Returns the storage size, in bytes, that PyTorch last computed on this thread. Each size is
 * returned only once; later calls return 0. */
uint64_t torch_take_asked(void);
