/* SPDX-License-Identifier: MIT */
/* CUPTI: a version, which frameworks compare with the one that they were built for. */
#include "standin.h"

#include "gpumemtrace/cuda/abi.h"

/* CUPTI counted its versions up to CUDA 12 (26 is 12.6); since 13 they are CUDA's, as 130000. */
STANDIN(int, cuptiGetVersion, (uint32_t * version))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    *version =
        (uint32_t)(runtime >= 13000 ? runtime / 1000 * 10000 + STANDIN_MINOR : STANDIN_MINOR);
    return 0;
}
