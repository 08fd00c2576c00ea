/* SPDX-License-Identifier: MIT */
/*
 * A shared object as a file: what it NEEDs, where the loader looks for that, and its dynamic symbols
 * with their versions. It must not know what the names mean.
 *
 * Any file may be given: what is no complete object of this machine's class is refused or ends early.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_ELF_FILE_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_ELF_FILE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_table {
    const void *start;
    size_t bytes;
    const char *strings; /* what its names are offsets into; ends with a 0 */
    size_t string_bytes;
};

struct elf_file {
    const unsigned char *bytes; /* the whole file, mapped; NULL: not open */
    size_t size;
    struct elf_table constants; /* its .rodata; no names */
    struct elf_table dynamic, symbols, versions, needed_versions, own_versions;
};

/* 0, or -1 if the file is no such object. elf_file_close may be called in either case. */
int elf_file_open(struct elf_file *file, const char *path);
void elf_file_close(struct elf_file *file);

/* The text of the next dynamic entry with this tag after *position, from 0; NULL: no more. */
const char *elf_file_text(const struct elf_file *file, ElfW(Sxword) tag, size_t *position);

struct elf_symbol {
    const char *name;
    const char *version; /* NULL: none */
    bool is_defined, is_weak, is_data;
};

/* Fills symbol with the next named global symbol after *position, from 0; false: no more. */
bool elf_file_symbol(const struct elf_file *file, size_t *position, struct elf_symbol *symbol);

#endif
