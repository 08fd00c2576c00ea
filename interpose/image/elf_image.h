/* SPDX-License-Identifier: MIT */
/*
 * Looks symbols up in an object that the loader has mapped, by reading its hash tables: no dl*
 * call, so no recursion into our own dlsym, no lock, no malloc. Callable from a hook. It must not
 * know which symbols matter. The object must stay mapped meanwhile: image_list.h says when it does.
 */
#ifndef GPUMEMTRACE_INTERPOSE_IMAGE_ELF_IMAGE_H
#define GPUMEMTRACE_INTERPOSE_IMAGE_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info;
struct link_map;

/* The object that dl_iterate_phdr shows, whose list is locked then, for the functions below; false:
 * it has no symbols. */
bool elf_image_from(const struct dl_phdr_info *info, struct link_map *image);

/* Address of a defined function or object, its default version if it has several; NULL: none. */
void *elf_image_symbol(const struct link_map *image, const char *name);

/* From where to where a defined function or object goes; false: not defined, or of unknown size. */
bool elf_image_extent(const struct link_map *image, const char *name, uintptr_t *start,
                      uintptr_t *end);

/* Calls visit for every place that holds the address of a function or object which this object uses
 * if there is one (a weak reference), and does not define. */
typedef void elf_image_visit(const char *name, void **place, void *argument);
void elf_image_weak_references(const struct link_map *image, elf_image_visit *visit,
                               void *argument);

/* The library with a name of that beginning that image asks for (DT_NEEDED); NULL: none. */
const char *elf_image_needs(const struct link_map *image, const char *prefix);

/* Does its file's name (without folder) or its SONAME begin so? */
bool elf_image_is(const struct link_map *image, const char *prefix);

#endif
