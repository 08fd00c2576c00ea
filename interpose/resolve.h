/* SPDX-License-Identifier: MIT */
/*
 * Real functions behind the hooks, and hooks in place of real functions: what dlsym and
 * cuGetProcAddress may hand out. Everything comes from the libraries' own symbol tables, by
 * address; a pointer that the driver did not give is never made up. It must not record.
 *
 * Thread-safe; callable from a hook: no malloc, a lock only while a library is met for the first
 * time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_RESOLVE_H
#define GPUMEMTRACE_INTERPOSE_RESOLVE_H

#include <stdbool.h>

#include "hooks.h"

/* What the hook must call for this caller (a return address: which of several runtimes it belongs
 * to). NULL: the library is not there or lacks the function. */
void *resolve_hook(enum hook hook, const void *caller);

/* A function of the loaded libcuda by its exported name; NULL: none. */
void *resolve_driver(const char *name);
/* A function of libc by name, our own definition left aside. */
void *resolve_libc(const char *name);

/* The hook that stands for this real function, or the function itself. */
void *resolve_wrap(void *real);

/* libcuda or a runtime was seen: its functions are remembered, so it must stay mapped. */
bool resolve_has_met(void);
/* In a fork's child, before anything else: a lock of the parent may be held there for ever. */
void resolve_after_fork(void);

/* The exported functions of the hooks (hooks.c); NULL for rows that are no function. */
extern void *const hook_functions[HOOK_COUNT];

#endif
