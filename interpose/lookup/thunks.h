/* SPDX-License-Identifier: MIT */
/*
 * Small functions, made at build time, that are handed out by number. Each stands for one real
 * function and runs its hook with unchanged arguments (resolve.h). thunks.S includes this file, so
 * outside #ifndef __ASSEMBLER__ it has only numbers.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_THUNKS_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_THUNKS_H

#define THUNK_LIMIT 1024
#define THUNK_BYTES 16

#ifndef __ASSEMBLER__
extern const char thunks_code[];

static inline void *thunk_address(unsigned number)
{
    return (void *)(__UINTPTR_TYPE__)(thunks_code + number * THUNK_BYTES);
}
#endif

#endif
