/* SPDX-License-Identifier: MIT */
/*
 * One ELF file with its debug information, through libdwfl: finds the function at an address, its
 * source line, and the calls that were inlined there.
 */
#pragma once

#include "elf_files.h"
#include "frame.h"
#include "owned_texts.h"
#include "gpumemtrace/limits.h"

struct elf_lookup;

/*
 * The path must come from elf_files_find; files and module must outlive the lookup. NULL: the file
 * cannot be read.
 */
struct elf_lookup *elf_lookup_open(struct elf_files *files, const struct trace_module *module,
                                   const char *path);
void elf_lookup_close(struct elf_lookup *lookup);

/*
 * Fills kind, function, file and line of at most ELF_LOOKUP_FRAMES_MAX frames, innermost first; the
 * last frame is of kind native. Returns their number. 0: unknown address; -1: out of memory. The
 * texts live as long as the lookup and `texts`.
 */
enum { ELF_LOOKUP_FRAMES_MAX = LIMIT_address_names };
int elf_lookup_find(struct elf_lookup *lookup, uint64_t address, struct symbol_frame *frames,
                    struct owned_texts *texts, struct err *err);

/* True if signal handlers return to the code at the address. */
bool elf_lookup_is_signal_return(struct elf_lookup *lookup, uint64_t address);
