/* SPDX-License-Identifier: MIT */
/*
 * The real functions behind the hooks, and the hooks in place of real functions, which dlsym and
 * cuGetProcAddress hand out. Everything is found by address in the libraries' own symbol tables; a
 * pointer that the driver did not give is never made up. It must not record, and knows hooks by
 * number and name only.
 *
 *     called by name        →  exported hook  →  what the loader would have bound (scope.h)
 *     called by a pointer   →  thunk → hook   →  the very function that the lookup gave
 *
 * Where both lead to the same function, a lookup hands out the exported hook, so that pointers
 * which are equal without us are equal with us.
 *
 * Thread-safe; callable from a hook: no malloc, a lock only when a library is met for the first
 * time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/hook_ids.h"

/* The function that the hook must call for this caller (a return address), to be asked once in each
 * call of the hook. NULL: no library of the process defines it. */
void *resolve_hook(enum hook hook, const void *caller);

/* What `caller` is to get from its lookup that found `real`: the hook for it, or `real` itself if
 * there is none; then *hooked is false. */
void *resolve_hand_out(void *real, const void *caller, bool *hooked);

/* Has a library with hooked functions been met? They are remembered, so it must stay mapped. */
bool resolve_has_met(void);
/* Is such a library mapped between the two? */
bool resolve_remembers(uintptr_t start, uintptr_t end);
/* Around a fork: the child must not inherit a lock that nobody will release. */
void resolve_before_fork(void);
void resolve_after_fork(bool in_child);

/* For thunks.S: a thunk stores the address of its row in resolve_handed and jumps to `hook`. */
struct resolve_thunk {
    void *hook, *real;
};

#endif
