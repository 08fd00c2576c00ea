/* SPDX-License-Identifier: MIT */
/* Families of the runtime: memory of other processes and other APIs. */
#include "matrix.h"

#include <string.h>

#include "lender.h"

void runtime_ipc(void)
{
    struct lender lender;
    CUipcMemHandle lent;
    cudaIpcMemHandle_t handle;
    void *address = NULL;
    family_needs(lender_start(&lender, &lent), "no second process can lend memory");
    memcpy(&handle, &lent, sizeof handle);
    RUNTIME(cudaIpcOpenMemHandle, (&address, handle, cudaIpcMemLazyEnablePeerAccess));
    book_alloc(MEMORY_IMPORTED, bits(address), LENT_BYTES);
    RUNTIME(cudaIpcCloseMemHandle, (address));
    book_free(MEMORY_IMPORTED, bits(address), LENT_BYTES);
    lender_stop(&lender);
}
