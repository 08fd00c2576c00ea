/* SPDX-License-Identifier: MIT */
/* Families of the driver: contexts, and what ends with them. */
#include "matrix.h"

/* What lived in a context goes with it; the last call created it. */
static void fill_and_destroy(CUcontext context)
{
    CUdeviceptr address = 0;
    void *pinned = NULL;
    book_event(EVENT_CONTEXT_CREATE, MEMORY_NONE, UNSAID, UNSAID, bits(context));
    DRIVER(cuMemAlloc_v2, (&address, 7 * MIB));
    book_alloc_of(MEMORY_LINEAR, address, 7 * MIB, bits(context));
    DRIVER(cuMemHostAlloc, (&pinned, 8 * MIB, 0));
    book_alloc_of(MEMORY_PINNED, bits(pinned), 8 * MIB, bits(context));
    DRIVER(cuCtxDestroy_v2, (context));
    book_event(EVENT_CONTEXT_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(context));
    book_implicit(MEMORY_LINEAR, 7 * MIB);
    book_implicit(MEMORY_PINNED, 8 * MIB);
    DRIVER(cuCtxSetCurrent, (primary));
}

void driver_context_v2(void)
{
    CUcontext context = NULL;
    DRIVER(cuCtxCreate_v2, (&context, 0, 0));
    fill_and_destroy(context);
}
