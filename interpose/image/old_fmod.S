/* SPDX-License-Identifier: MIT */
/*
 * fmod of glibc before 2.38, under the name that SQLite's archive asks for. If the archive was
 * built with a newer glibc, the recorder would need that glibc as well without this file. All other
 * names that the archive asks for exist since glibc 2.34 or earlier, which
 * tests/check/test_library.py checks.
 */
#if defined(__x86_64__)
    .symver old_fmod, fmod@GLIBC_2.2.5
#elif defined(__aarch64__)
    .symver old_fmod, fmod@GLIBC_2.17
#endif

    .text
    .globl fmod
    .hidden fmod
    .type fmod, %function
fmod:
#if defined(__x86_64__)
    endbr64
    jmp old_fmod@PLT
#else
    b old_fmod
#endif
    .size fmod, . - fmod
    .section .note.GNU-stack, "", %progbits
