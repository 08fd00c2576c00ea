/* SPDX-License-Identifier: MIT */
/*
 * One ELF file with its debug information, through libdwfl: from an address to a function, its
 * source line and the calls that were inlined there. Of a trace it must not know more than the
 * module's address and build-id.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_ELF_LOOKUP_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_ELF_LOOKUP_H

#include "elf_files.h"
#include "frame.h"
#include "owned_texts.h"
#include "gpumemtrace/limits.h"

struct elf_lookup;

/*
 * The path is one that elf_files_find gave; files and module must outlive the lookup. NULL: the
 * file cannot be read.
 */
struct elf_lookup *elf_lookup_open(struct elf_files *files, const struct trace_module *module,
                                   const char *path);
void elf_lookup_close(struct elf_lookup *lookup);

/*
 * Fills kind, function, file and line of at most ELF_LOOKUP_FRAMES_MAX frames, innermost first, the
 * last one of kind native, and returns how many. 0: nothing is known; -1: out of memory. The texts
 * live as long as the lookup and `texts`.
 */
enum { ELF_LOOKUP_FRAMES_MAX = LIMIT_address_names };
int elf_lookup_find(struct elf_lookup *lookup, uint64_t address, struct symbol_frame *frames,
                    struct owned_texts *texts, struct err *err);

/* Whether a signal handler returns to the code at the address. */
bool elf_lookup_is_signal_return(struct elf_lookup *lookup, uint64_t address);

#endif
