/* SPDX-License-Identifier: MIT */
/*
 * Hooks of PyTorch's own functions. A hook has the function's own name, which PyTorch's libraries
 * call through the loader; it forwards the call and notes its arguments or result. No other
 * function of PyTorch is called.
 *
 * PyTorch may hold its allocator's lock, or Python's: no lock, no malloc. If the real function
 * throws a C++ exception, the statements after the call are skipped. errno is the real function's.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_TORCH_H
#define GPUMEMTRACE_INTERPOSE_REPORT_TORCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/scope.h"

/* Defines the hook. The last arguments are its body, statements that use `real` and `parameters`.
 * If the real function is not found, runs `missing`. */
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

/* libstdc++'s std::string, by its first two members. */
struct torch_string {
    const char *text;
    size_t text_bytes;
};

/*
 * The name of a C++ function does not tell its result, and releases change it: rebase_history
 * returns nothing in 2.6 and an object in 2.15. So such a call is passed on whole: all argument
 * registers, one of which holds the address of a result in memory, and both result registers
 * (GMT_PASSES_CALLS_ON). AArch64 has that address in a register of its own.
 */
struct torch_words {
    uintptr_t first, second;
};
#define TORCH_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f

/* The library's function. If PyTorch is linked into another library: what the caller would have
 * called without the recorder. */
static inline void *torch_function(_Atomic(void *) *cached, const char *library, const char *name,
                                   const void *caller)
{
    void *function = image_list_function(cached, library, name);
    return GMT_LIKELY(function != NULL) ? function : scope_function(name, caller);
}

/* The stream that PyTorch's allocator last got on this thread for this device, as the driver's
 * number; STREAM_UNKNOWN: none yet. */
uint64_t torch_stream(int device);

/* Call it before a tensor's event. Writes the autograd node that this thread works for, if it
 * changed. */
void torch_note_node(void);

/* The storage size that PyTorch last computed on this thread, in bytes. Returns it once, then 0. */
uint64_t torch_take_asked(void);

#endif
