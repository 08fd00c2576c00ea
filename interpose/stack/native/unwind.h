/* SPDX-License-Identifier: MIT */
/*
 * The unwinder of native frames, chosen when a recording starts.
 */
#pragma once

/* Fills frames[limit] with return addresses, innermost first, and returns their number. The first
 * ones may be frames of this library. Thread-safe, but not async-signal-safe. It calls no malloc
 * once the stack's places are known. */
typedef int backtrace_function(void **frames, int limit);

struct unwinder {
    const char *name;              /* as stored in meta.unwinder */
    backtrace_function *backtrace; /* NULL: no native frames are taken */
};

/* Loads libunwind, or else libgcc's unwinder. Thread-safe. */
void unwind_load(void);

/* Chooses one of the loaded unwinders: libunwind, or else libgcc's unwinder. If neither is loaded,
 * chooses none and prints a line on stderr. */
const struct unwinder *unwind_choose(void);

extern const struct unwinder unwind_none;
