/* SPDX-License-Identifier: MIT */
/*
 * The objects that the loader has mapped. No dl* call but dl_iterate_phdr: so no recursion into our
 * own dlsym, and no lock that a constructor, or a dlopen on another thread, holds for long.
 * Callable from a hook. It must not know what is looked for.
 *
 * What the program started with stays mapped; what was opened later may be closed by another
 * thread. So the whole list is read inside image_list_iterate only. What is found there may be used
 * afterwards if something keeps it open: code of it that is running, or a handle.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_IMAGE_LIST_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_IMAGE_LIST_H

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* The first object after `after` (NULL: from the start) for which elf_image_is(prefix) holds; NULL:
 * none. Outside image_list_iterate only for what every program starts with. */
const struct link_map *image_list_find(const char *prefix, const struct link_map *after);
/* The same, from the start, for what may have been opened later. */
const struct link_map *image_list_find_anywhere(const char *prefix);
/* A function of an object whose name begins with prefix, also of one that was loaded RTLD_LOCAL;
 * NULL: none. *cached keeps it once it is found. For objects that are never closed. */
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

/* dl_iterate_phdr: while visit runs, nothing is added to the list or removed from it. */
typedef int image_list_visit(struct dl_phdr_info *info, size_t size, void *argument);
void image_list_iterate(image_list_visit *visit, void *argument);

/* Where an object is mapped. */
struct image_span {
    const struct link_map *image;
    uintptr_t start, end;
};

/* The object that holds this address; false: none. */
bool image_list_of(const void *address, struct image_span *span);

/* Around a fork: waits until no thread is inside image_list_iterate. */
void image_list_before_fork(void);
void image_list_after_fork(bool in_child);

#endif
