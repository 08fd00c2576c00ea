/* SPDX-License-Identifier: MIT */
/*
 * How PyTorch's own functions are hooked: defined under their own names, which PyTorch's libraries
 * call through the loader, they forward and note what passes. Nothing of PyTorch is called but the
 * function that was. It must not know what is recorded.
 *
 * PyTorch may hold its allocator's lock, or Python's: no lock, no malloc. A C++ exception of the real
 * function passes; what follows the call is then not done. errno is the real function's.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_TORCH_H
#define GPUMEMTRACE_INTERPOSE_REPORT_TORCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/scope.h"

/* Defines the hook; what follows the name of the library are statements that use `real` and
 * `parameters`. Where nobody has the real function, `missing` is done. */
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

/* std::string of libstdc++, by its first two members. */
struct torch_string {
    const char *text;
    size_t text_bytes;
};

/*
 * The name of a C++ function does not say what it returns, and releases change it: rebase_history
 * returns nothing in 2.6, and an object in 2.15. So what is only passed on goes through whole: the
 * registers of the arguments, among which a result in memory has its address, and the two of a
 * result: GMT_PASSES_CALLS_ON. (AArch64 has that address in a register of its own.)
 */
struct torch_words {
    uintptr_t first, second;
};
#define TORCH_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f

/* The library has it; or, where PyTorch is linked into another one, what the caller would have got
 * without us. */
static inline void *torch_function(_Atomic(void *) *cached, const char *library, const char *name,
                                   const void *caller)
{
    void *function = image_list_function(cached, library, name);
    return GMT_LIKELY(function != NULL) ? function : scope_function(name, caller);
}

/* The stream that PyTorch's allocator was last given on this thread for this device, as the driver
 * knows it; STREAM_UNKNOWN: none yet. */
uint64_t torch_stream(int device);

/* Before an event of a tensor: the node of autograd that this thread works for, if the trace says
 * another one. */
void torch_note_node(void);

/* What PyTorch computed last on this thread as the size of a tensor's storage, once: 0 from then on. */
uint64_t torch_take_asked(void);

#endif
