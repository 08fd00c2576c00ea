/* SPDX-License-Identifier: MIT */
/*
 * Clears weak references to our hooks if CUDA is not installed. A program may refer to CUDA's
 * functions by weak references, and use a function only if it exists. Our exports would make such a
 * program believe that the functions exist. So if no other object defines such a function, the weak
 * references to it are cleared in all objects that the program started with.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/image/elf_image.h"
#include "interpose/image/image_list.h"
#include "interpose/image/scope.h"

/* Returns our hook of this name. Functions of the public header are skipped, because programs shall
 * find these functions. */
static const void *own_hook(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' ? elf_image_symbol(image_list_own(), name) : NULL;
}

/* Has the loader made this word read-only? The loader protects only whole pages. */
static bool is_protected(const struct dl_phdr_info *info, uintptr_t word, uintptr_t page_bytes)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const uintptr_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO && word >= start - start % page_bytes &&
            word < end - end % page_bytes)
            return true;
    }
    return false;
}

static void clear_word(const struct dl_phdr_info *info, void **word)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)word - (uintptr_t)word % page_bytes);
    if (!is_protected(info, (uintptr_t)word, page_bytes)) {
        *word = NULL;
    } else if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0) {
        *word = NULL;
        mprotect(page, page_bytes, PROT_READ);
    }
}

static void clear_if_ours(const char *name, void **word, void *argument)
{
    const void *own = own_hook(name);
    if (own && *word == own && !scope_has(name, NULL))
        clear_word(argument, word);
}

static int clear_references_of(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct link_map image;
    (void)size, (void)unused;
    if (elf_image_from(info, &image) && image.l_ld != image_list_own()->l_ld)
        elf_image_weak_references(&image, clear_if_ours, info);
    return 0;
}

__attribute__((constructor)) static void clear_weak_references(void)
{
    image_list_iterate(clear_references_of, NULL);
}
