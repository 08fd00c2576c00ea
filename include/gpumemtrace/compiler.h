/* SPDX-License-Identifier: MIT */
/*
 * Names for compiler extensions, so that the rest of the tree is plain C11. No functions.
 */
#pragma once

#define GMT_EXPORT __attribute__((visibility("default")))
#define GMT_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#define GMT_NOINLINE __attribute__((noinline))
#define GMT_ALWAYS_INLINE inline __attribute__((always_inline))
#define GMT_NORETURN __attribute__((noreturn))
#define GMT_UNUSED __attribute__((unused))
#define GMT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define GMT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* The default TLS model of a shared object may call malloc at the first use; this model never
 * does. */
#define GMT_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define GMT_CACHE_LINE_BYTES 64
#define GMT_CACHE_ALIGNED __attribute__((aligned(GMT_CACHE_LINE_BYTES)))
/* The address to which the current function returns. */
#define GMT_CALLER_ADDRESS() __builtin_return_address(0)
/* The CPU's time-stamp counter; 0 on CPUs whose counter is not cheaper than the kernel's clock. */
#if defined(__x86_64__)
#define GMT_TICKS() ((uint64_t)__builtin_ia32_rdtsc())
#else
#define GMT_TICKS() ((uint64_t)0)
#endif
/* Loads the cache line of this address, which is used soon. The address need not be readable. */
#define GMT_PREFETCH(address) __builtin_prefetch(address)
/* These return true if the result does not fit. */
#define GMT_MUL_OVERFLOWS(a, b, result) __builtin_mul_overflow(a, b, result)
#define GMT_ADD_OVERFLOWS(a, b, result) __builtin_add_overflow(a, b, result)
/* Number of the lowest or highest bit that is set, from 0. value must not be 0. */
#define GMT_LOWEST_BIT(value) ((unsigned)__builtin_ctzll(value))
#define GMT_HIGHEST_BIT(value) (63 - (unsigned)__builtin_clzll(value))
/* 1: C can pass on a call whose result type it does not know, because the address of a result in
 * memory is in one of the argument registers. */
#if defined(__x86_64__)
#define GMT_PASSES_CALLS_ON 1
#else
#define GMT_PASSES_CALLS_ON 0
#endif
/* Converts an object pointer to a function pointer. ISO C does not allow it, but POSIX guarantees
 * that it works. */
#define GMT_FUNCTION(type, pointer) (__extension__(type)(pointer))
