/* SPDX-License-Identifier: MIT */
/*
 * Names for compiler extensions, so that the rest of the tree is plain C11. It must not hold
 * functions.
 */
#ifndef GPUMEMTRACE_COMPILER_H
#define GPUMEMTRACE_COMPILER_H

#define GMT_EXPORT __attribute__((visibility("default")))
#define GMT_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#define GMT_NOINLINE __attribute__((noinline))
#define GMT_ALWAYS_INLINE inline __attribute__((always_inline))
#define GMT_NORETURN __attribute__((noreturn))
#define GMT_UNUSED __attribute__((unused))
#define GMT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define GMT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* The default TLS model of a shared object may call malloc on first use; this model never does. */
#define GMT_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define GMT_CACHE_LINE_BYTES 64
#define GMT_CACHE_ALIGNED __attribute__((aligned(GMT_CACHE_LINE_BYTES)))
/* Fetches what lies at any address into the cache; it may be none that can be read. */
#define GMT_PREFETCH(address) __builtin_prefetch(address)
#define GMT_CALLER_ADDRESS() __builtin_return_address(0)
/* The CPU's time-stamp counter; 0 on CPUs without one that is cheaper than the kernel's clock. */
#if defined(__x86_64__)
#define GMT_TICKS() ((uint64_t)__builtin_ia32_rdtsc())
#else
#define GMT_TICKS() ((uint64_t)0)
#endif
/* Begins to load a line of memory that is used soon; any address will do. */
#define GMT_PREFETCH(address) __builtin_prefetch(address)
/* Both overflow checks return true when the result does not fit. */
#define GMT_MUL_OVERFLOWS(a, b, result) __builtin_mul_overflow(a, b, result)
#define GMT_ADD_OVERFLOWS(a, b, result) __builtin_add_overflow(a, b, result)
/* Numbers of bits, from 0; of a value that is not 0. */
#define GMT_LOWEST_BIT(value) ((unsigned)__builtin_ctzll(value))
#define GMT_HIGHEST_BIT(value) (63 - (unsigned)__builtin_clzll(value))
/* Whether C can hand on a call of which it does not know what it returns: the address of a result in
 * memory is in one of the registers of arguments. */
#if defined(__x86_64__)
#define GMT_PASSES_CALLS_ON 1
#else
#define GMT_PASSES_CALLS_ON 0
#endif
/* ISO C has no conversion from object to function pointers; POSIX guarantees that it works. */
#define GMT_FUNCTION(type, pointer) (__extension__(type)(pointer))

#endif
