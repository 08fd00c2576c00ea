/* SPDX-License-Identifier: MIT */
/*
 * Real functions behind the hooks, and hooks in place of real functions: what dlsym and
 * cuGetProcAddress may hand out. Everything comes from the libraries' own symbol tables, by
 * address; a pointer that the driver did not give is never made up. It must not record.
 *
 *     called by its name   →  exported hook  →  what the loader would have bound (scope.h)
 *     called by a pointer  →  thunk → hook   →  the very function that the lookup gave
 *
 * Where both come to the same, a lookup hands out the exported hook, so that pointers which are
 * equal without us are equal with us.
 *
 * Thread-safe; callable from a hook: no malloc, a lock only while a library is met for the first
 * time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/hook_ids.h"

/* What the hook must call for this caller (a return address), once for each call of the hook. NULL:
 * no library of the process has it. */
void *resolve_hook(enum hook hook, const void *caller);

/* What `caller` gets from its lookup that found `real`: the hook for it, or `real` itself, and then
 * *hooked is false. */
void *resolve_hand_out(void *real, const void *caller, bool *hooked);

/* libcuda or a runtime was seen: its functions are remembered, so it must stay mapped. */
bool resolve_has_met(void);
/* Is one of those mapped there? */
bool resolve_remembers(uintptr_t start, uintptr_t end);
/* Around a fork: its child must not inherit a lock that nobody will release. */
void resolve_before_fork(void);
void resolve_after_fork(bool in_child);

/* For thunks.S: a thunk writes the address of its row to resolve_handed and jumps to `hook`. */
struct resolve_thunk {
    void *hook, *real;
};

#endif
