/* SPDX-License-Identifier: MIT */
/*
 * The functions in the symbol tables of one ELF file, sorted by address. libdwfl's own search reads
 * every symbol for each address, which takes seconds in the libraries of a framework.
 */
#pragma once

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct elf_function {
    uint64_t start, end; /* end == start: unknown size */
    const char *symbol;  /* the linker's name; belongs to the module */
};

struct elf_functions {
    struct elf_function *items;
    size_t count;
};

int elf_functions_load(struct elf_functions *functions, Dwfl_Module *module, struct err *err);
void elf_functions_release(struct elf_functions *functions);

/* The symbol of the function that contains the address; NULL: none. */
const char *elf_functions_find(const struct elf_functions *functions, uint64_t address);
