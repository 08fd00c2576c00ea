/* SPDX-License-Identifier: MIT */
/*
 * fmod as it was before glibc 2.38, under the name that SQLite's archive asks for: where a newer
 * glibc is installed, the archive would make the library need that glibc. Everything else here asks
 * for names as old as 2.34; tests/check/test_library.py holds it so.
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
