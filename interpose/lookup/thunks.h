/* SPDX-License-Identifier: MIT */
/*
 * Thunks are small functions that are made at build time and have numbers. Each stands for one real
 * function and runs its hook with unchanged arguments (resolve.h). thunks.S also includes this
 * file, so everything outside #ifndef __ASSEMBLER__ must be plain numbers.
 */
#pragma once

#define THUNK_LIMIT 1024
#define THUNK_BYTES 16

#ifndef __ASSEMBLER__
extern const char thunks_code[];

static inline void *thunk_address(unsigned number)
{
    return (void *)(__UINTPTR_TYPE__)(thunks_code + number * THUNK_BYTES);
}
#endif
