/* SPDX-License-Identifier: MIT */
/*
 * The objects that the loader has mapped. The only dl* call is dl_iterate_phdr. So our own dlsym is
 * not entered again, and no lock is taken that a constructor, or a dlopen on another thread, holds
 * for long. Callable from a hook.
 *
 * Objects that the program started with stay mapped. Another thread may close the objects that were
 * opened later. So read the whole list only inside image_list_iterate. An object found there may be
 * used afterwards if something keeps it open: its running code, or a handle.
 */
#pragma once

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* Returns the first object after `after` (NULL: from the start) for which elf_image_is(prefix)
 * holds; NULL: there is none. Outside image_list_iterate, use it only for objects that every
 * program starts with. */
const struct link_map *image_list_find(const char *prefix, const struct link_map *after);
/* Searches like image_list_find, from the start, but also for objects that may have been opened
 * later. */
const struct link_map *image_list_find_anywhere(const char *prefix);
/* Finds a function in the objects whose names begin with prefix, even in an object loaded with
 * RTLD_LOCAL; NULL: there is none. *cached keeps the function once it is found. Use it only for
 * objects that are never closed. */
void *image_list_search_function(_Atomic(void *) *cached, const char *prefix, const char *name);

static inline void *image_list_function(_Atomic(void *) *cached, const char *prefix,
                                        const char *name)
{
    void *function = atomic_load_explicit(cached, memory_order_relaxed);
    return GMT_LIKELY(function != NULL) ? function
                                        : image_list_search_function(cached, prefix, name);
}

/* This library. */
const struct link_map *image_list_own(void);

/* Calls dl_iterate_phdr. While visit runs, no object is added to the list or removed from it. */
typedef int image_list_visit(struct dl_phdr_info *info, size_t size, void *argument);
void image_list_iterate(image_list_visit *visit, void *argument);

/* The addresses at which an object is mapped. */
struct image_span {
    const struct link_map *image;
    uintptr_t start, end;
};

/* Finds the object that contains this address; false: there is none. */
bool image_list_of(const void *address, struct image_span *span);

/* Called around a fork: waits until no thread is inside image_list_iterate. */
void image_list_before_fork(void);
void image_list_after_fork(bool in_child);
