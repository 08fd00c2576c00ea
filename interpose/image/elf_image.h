/* SPDX-License-Identifier: MIT */
/*
 * Looks up symbols in an object that the loader has mapped, by reading its hash tables: no dl*
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

/* Makes *image, for the functions below, of an object that dl_iterate_phdr shows; good while its
 * callback runs. false: the object has no symbols. */
bool elf_image_from(const struct dl_phdr_info *info, struct link_map *image);

/* The address of a function or variable that the object defines, of its default version if there
 * are several; NULL: it defines none. */
void *elf_image_symbol(const struct link_map *image, const char *name);

/* First byte and end of a function or variable; false: not defined, or of unknown size. */
bool elf_image_extent(const struct link_map *image, const char *name, uintptr_t *start,
                      uintptr_t *end);

/* Calls visit for every word that holds the address of a function or variable which this object
 * uses only if somebody defines it (an undefined weak reference). */
typedef void elf_image_visit(const char *name, void **word, void *argument);
void elf_image_weak_references(const struct link_map *image, elf_image_visit *visit,
                               void *argument);

/* The first library that the object needs (DT_NEEDED) whose name begins with prefix; NULL: none. */
const char *elf_image_needs(const struct link_map *image, const char *prefix);

/* Does the name of its file (without folder) or its SONAME begin with prefix, apart from a hash that either may carry
 * where a library is bundled ("libcudart-e409450e.so.11.0")? */
bool elf_image_is(const struct link_map *image, const char *prefix);

#endif
