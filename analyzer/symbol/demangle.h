/* SPDX-License-Identifier: MIT */
/*
 * Symbols as their programmers wrote them: C++ and Rust names demangled, a compiler's suffixes
 * (".part.0", ".cold", ".llvm.123") and a linker's versions ("@@GLIBC_2.34") cut off. It must not
 * know where symbols come from.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DEMANGLE_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DEMANGLE_H

/*
 * "at::empty" for "_ZN2at5emptyEl": without parameters, because the line beside the name tells
 * overloads apart. The caller frees it. NULL: out of memory.
 */
char *demangle(const char *symbol);

#endif
