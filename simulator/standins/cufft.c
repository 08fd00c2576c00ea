/* SPDX-License-Identifier: MIT */
/* cuFFT: plans without a work area, because only cuFFT knows its real size. */
#include "standin.h"

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0 };

STANDIN(int, cufftCreate, (int *plan))
{
    *plan = 1;
    return SUCCESS;
}

STANDIN(int, cufftXtMakePlanMany,
        (int plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
         int inputtype, long long *onembed, long long ostride, long long odist, int outputtype,
         long long batch, size_t *work_bytes, int executiontype))
{
    (void)plan, (void)rank, (void)n, (void)inembed, (void)istride, (void)idist, (void)inputtype;
    (void)onembed, (void)ostride, (void)odist, (void)outputtype, (void)batch, (void)executiontype;
    *work_bytes = 0;
    return SUCCESS;
}

/* cuFFT's major version is one less than CUDA's. */
static int major_version(void)
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return runtime / 1000 - 1;
}

STANDIN_PROPERTY(cufftGetProperty, major_version())

STANDIN(int, cufftGetVersion, (int *version))
{
    *version = major_version() * 1000 + STANDIN_MINOR * 10;
    return 0;
}
