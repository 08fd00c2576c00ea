/* SPDX-License-Identifier: MIT */
/* CUPTI: a version, which frameworks compare with the version that they were built for. */
#include "standin.h"

#include "gpumemtrace/cuda/abi.h"

/* Up to CUDA 12, CUPTI had version numbers of its own (26 is that of CUDA 12.6); since 13 they are
 * CUDA's (130000). */
STANDIN(int, cuptiGetVersion, (uint32_t * version))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    *version =
        (uint32_t)(runtime >= 13000 ? runtime / 1000 * 10000 + STANDIN_MINOR : STANDIN_MINOR);
    return 0;
}
