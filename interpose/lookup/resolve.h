/* SPDX-License-Identifier: MIT */
/*
 * The real function behind a hook, and the hook that dlsym and cuGetProcAddress hand out in place
 * of a real function. Everything is found by address in the libraries' own symbol tables. A program
 * gets a function only if its lookup found one.
 *
 *     called by name        →  exported hook  →  what the loader would have bound (scope.h)
 *     called by a pointer   →  thunk → hook   →  the very function that the lookup gave
 *
 * If both lead to the same function, a lookup hands out the exported hook, so that pointers that
 * are equal without the recorder are equal with it.
 *
 * Thread-safe; callable from a hook: no malloc, a lock only when a library is met for the first
 * time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/hook_ids.h"

/* The function that the hook must call for this caller (a return address). Call it once in each
 * call of the hook. NULL: no library of the process defines the function. */
void *resolve_hook(enum hook hook, const void *caller);

/* The function that `caller` must get from a lookup that found `real`: the hook for it; or `real`
 * itself if there is no hook, and then *hooked is false. */
void *resolve_hand_out(void *real, const void *caller, bool *hooked);

/* Has a library with hooked functions been met? Its addresses are cached, so it must stay
 * mapped. */
bool resolve_has_met(void);
/* Is such a library mapped in this range of addresses? */
bool resolve_remembers(uintptr_t start, uintptr_t end);
/* Called around a fork, because the child must not inherit a lock that nobody will release. */
void resolve_before_fork(void);
void resolve_after_fork(bool in_child);

/* Read by thunks.S: a thunk stores the address of its row in resolve_handed and jumps to `hook`. */
struct resolve_thunk {
    void *hook, *real;
};

#endif
