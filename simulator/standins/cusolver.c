/* SPDX-License-Identifier: MIT */
/* cuSOLVER: opaque handles and no workspace, because only cuSOLVER knows its real size. */
#include "standin.h"

#include "gpumemtrace/cuda/abi.h"

enum { ALLOC_FAILED = 2 };

STANDIN_CREATE(cusolverDnCreate, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroy)
STANDIN_CREATE(cusolverDnCreateParams, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroyParams)
STANDIN_CREATE(cusolverDnCreateGesvdjInfo, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroyGesvdjInfo)
STANDIN_CREATE(cusolverDnCreateSyevjInfo, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroySyevjInfo)

/* Defines one function for each number type. The name for complex types may differ. */
#define NO_BYTES(real, complex, position)                                                          \
    STANDIN_NO_BYTES(cusolverDnS##real##_bufferSize, int, position)                                \
    STANDIN_NO_BYTES(cusolverDnD##real##_bufferSize, int, position)                                \
    STANDIN_NO_BYTES(cusolverDnC##complex##_bufferSize, int, position)                             \
    STANDIN_NO_BYTES(cusolverDnZ##complex##_bufferSize, int, position)
NO_BYTES(gesvd, gesvd, 4)
NO_BYTES(sytrf, sytrf, 5)
NO_BYTES(potrf, potrf, 6)
NO_BYTES(getrf, getrf, 6)
NO_BYTES(geqrf, geqrf, 6)
NO_BYTES(orgqr, ungqr, 8)
NO_BYTES(syevd, heevd, 8)
NO_BYTES(syevj, heevj, 8)
NO_BYTES(syevjBatched, heevjBatched, 8)
NO_BYTES(ormqr, unmqr, 12)
NO_BYTES(gesvdjBatched, gesvdjBatched, 12)
NO_BYTES(gesvdj, gesvdj, 13)
NO_BYTES(gesvdaStridedBatched, gesvdaStridedBatched, 17)

/* These functions return two sizes: on the device and on the host. */
STANDIN_NO_BYTES_TWICE(cusolverDnXpotrf_bufferSize, size_t, 9, 10)
STANDIN_NO_BYTES_TWICE(cusolverDnXgeqrf_bufferSize, size_t, 11, 12)
STANDIN_NO_BYTES_TWICE(cusolverDnXsyevd_bufferSize, size_t, 12, 13)
STANDIN_NO_BYTES_TWICE(cusolverDnXsytrs_bufferSize, size_t, 12, 13)
STANDIN_NO_BYTES_TWICE(cusolverDnXsyevBatched_bufferSize, size_t, 12, 13)
STANDIN_NO_BYTES_TWICE(cusolverDnXgeev_bufferSize, size_t, 18, 19)

/* cuSOLVER's major version is one less than CUDA's. */
static int major_version(void)
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return runtime / 1000 - 1;
}

STANDIN_PROPERTY(cusolverGetProperty, major_version())

STANDIN(int, cusolverGetVersion, (int *version))
{
    *version = major_version() * 1000 + STANDIN_MINOR * 10;
    return 0;
}
