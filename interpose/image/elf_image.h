/* SPDX-License-Identifier: MIT */
/*
 * Looks up symbols in an object that the loader has mapped, by reading the object's hash tables. It
 * makes no dl* call, so our own dlsym is not entered again. It takes no lock and calls no malloc,
 * so it is callable from a hook. The object must stay mapped during the call; image_list.h says
 * which objects do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info;
struct link_map;

/* Fills *image, for the functions below, with an object that dl_iterate_phdr passes to its
 * callback. *image is valid while that callback runs. false: the object has no symbols. */
bool elf_image_from(const struct dl_phdr_info *info, struct link_map *image);

/* Returns the address of a function or variable that the object defines, in the default version of
 * the name; NULL: the object does not define it. */
void *elf_image_symbol(const struct link_map *image, const char *name);

/* Finds the first byte and the end of a function or variable; false: the object does not define it,
 * or its size is unknown. */
bool elf_image_extent(const struct link_map *image, const char *name, uintptr_t *start,
                      uintptr_t *end);

/* Calls visit for every word of the object that holds the address of an undefined weak reference: a
 * function or variable that the object uses only if some object defines it. */
typedef void elf_image_visit(const char *name, void **word, void *argument);
void elf_image_weak_references(const struct link_map *image, elf_image_visit *visit,
                               void *argument);

/* Returns the name of the first library that the object needs (DT_NEEDED) and whose name begins
 * with prefix; NULL: there is none. */
const char *elf_image_needs(const struct link_map *image, const char *prefix);

/* Does the object's file name (without folder) or its SONAME begin with prefix? The hash in the
 * name of a bundled library is ignored ("libcudart-e409450e.so.11.0"). */
bool elf_image_is(const struct link_map *image, const char *prefix);
