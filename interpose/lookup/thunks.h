/* SPDX-License-Identifier: MIT */
/*
 * Small functions without a name, made before they are needed: each stands for one real function
 * and runs its hook with the arguments as they came (resolve.h). It must not know hooks; assembly
 * reads it, so there are only numbers.
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
