/* SPDX-License-Identifier: MIT */
/*
 * One ELF file with its debug information, through libdwfl: from an address to a function, its
 * source line and the calls that were inlined there. It must not know traces beyond the module's
 * path, place and build-id.
 */
#ifndef GPUMEMTRACE_SYMBOL_ELF_LOOKUP_H
#define GPUMEMTRACE_SYMBOL_ELF_LOOKUP_H

#include "symbol/symbols.h"

struct elf_lookup;

/* NULL: there is no such file here, or it is another build than the one that ran. */
struct elf_lookup *elf_lookup_open(const struct trace_module *module);
void elf_lookup_close(struct elf_lookup *lookup);

/*
 * Fills at most limit frames, innermost first, the last one of kind native, and returns how many;
 * 0: nothing is known. The texts live as long as the lookup.
 */
size_t elf_lookup_find(struct elf_lookup *lookup, uint64_t address, struct symbol_frame *frames,
                       size_t limit);

#endif
