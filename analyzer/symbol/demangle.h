/* SPDX-License-Identifier: MIT */
/*
 * Symbols as programmers wrote them: C++ and Rust names are demangled; suffixes of compilers
 * (".part.0", ".cold", ".llvm.123") and versions of linkers ("@@GLIBC_2.34") are removed.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DEMANGLE_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DEMANGLE_H

/*
 * "at::empty" for "_ZN2at5emptyEl", without parameters, because the source line next to the name
 * distinguishes overloads. The caller frees it. NULL: out of memory.
 */
char *demangle(const char *symbol);

#endif
