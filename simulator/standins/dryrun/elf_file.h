/* SPDX-License-Identifier: MIT */
/*
 * A shared object as a file: the libraries that it NEEDs, the folders where the loader looks for
 * them, and its dynamic symbols with their versions.
 *
 * Any file may be given. A file that is not an object of this machine's class is refused; a
 * truncated one ends early.
 */
#pragma once

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_table {
    const void *start;
    size_t bytes;
    const char *strings; /* names are offsets into them; ends with a 0 */
    size_t string_bytes;
};

struct elf_file {
    const unsigned char *bytes; /* the whole file, mapped; NULL: not open */
    size_t size;
    struct elf_table constants; /* its .rodata; no names */
    struct elf_table dynamic, symbols, versions, needed_versions, own_versions;
};

/* 0; -1: the file is not such an object. Call elf_file_close in both cases. */
int elf_file_open(struct elf_file *file, const char *path);
void elf_file_close(struct elf_file *file);

/* The text of the next dynamic entry with this tag from *position on (0 at first); NULL: no
 * more. */
const char *elf_file_text(const struct elf_file *file, ElfW(Sxword) tag, size_t *position);

struct elf_symbol {
    const char *name;
    const char *version; /* NULL: none */
    bool is_defined, is_weak, is_data;
};

/* Fills symbol with the next named global symbol from *position on (0 at first); false: no more. */
bool elf_file_symbol(const struct elf_file *file, size_t *position, struct elf_symbol *symbol);
