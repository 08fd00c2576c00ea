/* SPDX-License-Identifier: MIT */
/* Families of the runtime: libraries, limits, and the reset of the device. */
#include "matrix.h"

static const char code[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n ret;\n}\n";

void runtime_library(void)
{
    cudaLibrary_t library = NULL;
    RUNTIME(cudaLibraryLoadData, (&library, code, NULL, NULL, 0, NULL, NULL, 0));
    book_event(EVENT_MODULE_LOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(library));
    RUNTIME(cudaLibraryUnload, (library));
    book_event(EVENT_MODULE_UNLOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(library));
}

void runtime_limits(void)
{
    size_t stack_bytes = 0;
    RUNTIME(cudaDeviceGetLimit, (&stack_bytes, cudaLimitStackSize));
    RUNTIME(cudaDeviceSetLimit, (cudaLimitStackSize, 2 * stack_bytes));
    book_event(EVENT_LIMIT, MEMORY_LIMIT, cudaLimitStackSize, 2 * stack_bytes, UNSAID);
}

/* A reset frees all memory in the primary context, including memory that was allocated through
   the driver. */
void runtime_reset(void)
{
    void *address = NULL;
    RUNTIME(cudaMalloc, (&address, 5 * MIB));
    book_alloc(MEMORY_LINEAR, bits(address), 5 * MIB);
    RUNTIME(cudaDeviceReset, ());
    book_event(EVENT_CONTEXT_DESTROY, MEMORY_NONE, UNSAID, UNSAID, UNSAID);
    book_all_implicit();
}
