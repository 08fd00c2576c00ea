/* SPDX-License-Identifier: MIT */
/*
 * Finds the real function behind a hook, and the hook that dlsym and cuGetProcAddress return in
 * place of a real function. Everything is found by address in the libraries' own symbol tables. A
 * program gets a function only if its lookup found one.
 *
 *     called by name        →  exported hook  →  what the loader would have bound (scope.h)
 *     called by a pointer   →  thunk → hook   →  the very function that the lookup gave
 *
 * If both ways lead to the same function, a lookup returns the exported hook. So two pointers that
 * would be equal without the recorder are also equal with the recorder.
 *
 * Thread-safe; callable from a hook: no malloc, and a lock is taken only when a library is met for
 * the first time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/hook_ids.h"

/* Returns the function that the hook must call for this caller (a return address). Call
 * resolve_hook once in each call of the hook. NULL: no library of the process defines the
 * function. */
void *resolve_hook(enum hook hook, const void *caller);

/* Returns the function that `caller` must get from a lookup that found `real`. This is the hook of
 * `real`. If there is no hook, it is `real` itself, and *hooked is false. */
void *resolve_hand_out(void *real, const void *caller, bool *hooked);

/* Has a library with hooked functions been met? The addresses of such a library are cached, so the
 * library must stay mapped. */
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
