/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that a module of a trace was loaded from, or a file with its debug information.
 * Only the build-id decides, so a file of another build is never used. The places are searched in
 * this order:
 *
 *     the recorded path                                      if the file is of that build
 *     DIR/.build-id/xx/yyyy.debug, DIR/.build-id/xx/yyyy     for each --debug-dir
 *     any file below DIR                                     for each --debug-dir
 *     /usr/lib/debug/.build-id/xx/yyyy.debug
 *     the servers of debuginfod                              with --debuginfod
 */
#pragma once

#include "analyzer/load/trace.h"
#include "sources.h"

struct elf_files;

/* Result of the search for a module's file. */
enum elf_state {
    ELF_FOUND,
    ELF_MISSING,     /* not on this machine */
    ELF_OTHER_BUILD, /* not found, and the file at the recorded path is of another build */
};

/* The sources must outlive the result. NULL: *err says why. */
struct elf_files *elf_files_new(const struct symbol_sources *sources, struct err *err);
void elf_files_free(struct elf_files *files);

/* *path belongs to files or module; it is NULL unless ELF_FOUND is returned. */
enum elf_state elf_files_find(struct elf_files *files, const struct trace_module *module,
                              const char **path);

/* Debug information for a stripped file, from the --debug-dir folders only. NULL: there is none. */
const char *elf_files_find_debug(struct elf_files *files, const char *build_id);
