/* SPDX-License-Identifier: MIT */
/*
 * The native stack of the calling thread, from one of several unwinders, chosen when a recording
 * starts. It must not know what frames mean.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_H

/* Fills frames[limit] with return addresses, innermost first, and returns their number. They may
 * begin with frames of this library. Thread-safe, not async-signal-safe, no malloc on the warm
 * path. */
typedef int backtrace_function(void **frames, int limit);

struct unwinder {
    const char *name;              /* as stored in meta.unwinder */
    backtrace_function *backtrace; /* NULL: no native frames are taken */
};

/* Loads libunwind, or else libgcc's unwinder. Several threads may call it at a time. */
void unwind_load(void);

/* Of what is loaded: libunwind, else libgcc's with a line that tells its cost, else none. */
const struct unwinder *unwind_choose(void);

extern const struct unwinder unwind_none;

#endif
