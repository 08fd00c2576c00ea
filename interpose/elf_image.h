/* SPDX-License-Identifier: MIT */
/*
 * Looks symbols up in the objects that the loader has mapped, by reading its list and their hash
 * tables: no dl* call, so no recursion into our own dlsym, no lock, no malloc. Callable from a
 * hook. It must not know which symbols matter.
 */
#ifndef GPUMEMTRACE_INTERPOSE_ELF_IMAGE_H
#define GPUMEMTRACE_INTERPOSE_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info;
struct link_map;

/* First object of the loader's list whose file name (without folder) starts with prefix. NULL:
 * none. after: where to go on, NULL for the start. */
const struct link_map *elf_image_find(const char *prefix, const struct link_map *after);

/* The object that dl_iterate_phdr shows, whose list is locked then, for the functions below; false:
 * it has no symbols. */
bool elf_image_from(const struct dl_phdr_info *info, struct link_map *image);

/* Address of a defined function or object, its default version if it has several; NULL: none. */
void *elf_image_symbol(const struct link_map *image, const char *name);

/* From where to where a defined function or object goes; false: not defined, or of unknown size. */
bool elf_image_extent(const struct link_map *image, const char *name, uintptr_t *start,
                      uintptr_t *end);

/* Does image ask for a library of this name (DT_NEEDED)? */
bool elf_image_needs(const struct link_map *image, const char *name);

/* The object that address lies in; NULL: none. */
const struct link_map *elf_image_of(const void *address);

#endif
