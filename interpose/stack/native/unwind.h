/* SPDX-License-Identifier: MIT */
/*
 * How to get the native stack of the calling thread: a port with several engines behind it. Chosen
 * once at the start of a recording. It must not know what frames mean.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_H

struct unwinder {
    const char *name; /* as stored in meta.unwinder */
    /* Return addresses, innermost first, into frames[limit]; how many. May start with frames of
     * this library. Thread-safe, async-signal-unsafe, no malloc on the warm path. */
    int (*backtrace)(void **frames, int limit);
};

/* Loads what unwind_choose picks from, once; several threads may come here at a time. */
void unwind_load(void);

/* kind: the setting stacks. Never NULL: libunwind, else libgcc's (said once with its cost), else
 * none; none where no native stacks are wanted. */
const struct unwinder *unwind_choose(const char *kind);

#endif
