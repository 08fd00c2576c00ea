/* SPDX-License-Identifier: MIT */
/*
 * Turns symbols into the names that programmers wrote. C++ and Rust names are demangled. Suffixes
 * from compilers (".part.0", ".cold", ".llvm.123") and versions from linkers ("@@GLIBC_2.34") are
 * removed.
 */
#pragma once

/*
 * Returns "at::empty" for "_ZN2at5emptyEl". The name has no parameters, because the source line
 * next to it distinguishes overloads. The caller frees the name. NULL: out of memory.
 */
char *demangle(const char *symbol);
