/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that a module of a trace was loaded from, or one with its debug information: by
 * build-id, so that a file of another build is never taken for it, on whatever machine. Looked at
 * in this order:
 *
 *     the recorded path, if it is that build
 *     DIR/.build-id/xx/yyyy.debug, DIR/.build-id/xx/yyyy, any file below DIR    for each
 * --debug-dir /usr/lib/debug/.build-id/xx/yyyy.debug the servers of debuginfod, with --debuginfod
 *
 * It must not know what is read from the files.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_ELF_FILES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_ELF_FILES_H

#include "symbols.h"

struct elf_files;

/* Which file a module's names come from. */
enum elf_state {
    ELF_FOUND,
    ELF_MISSING,     /* there is none on this machine */
    ELF_OTHER_BUILD, /* what stands at the recorded path is another build */
};

/* The sources must outlive the files. NULL: *err says why. */
struct elf_files *elf_files_new(const struct symbol_sources *sources, struct err *err);
void elf_files_free(struct elf_files *files);

/* *path belongs to the files or the module; NULL unless ELF_FOUND. */
enum elf_state elf_files_find(struct elf_files *files, const struct trace_module *module,
                              const char **path);

/* As above, but only from the --debug-dir folders: beside a stripped file that was found. NULL:
 * none. */
const char *elf_files_find_debug(struct elf_files *files, const char *build_id);

#endif
