/* SPDX-License-Identifier: MIT */
/*
 * cuBLASLt: opaque descriptors and one algorithm for every product. It allocates no workspace,
 * because the caller passes one.
 */
#include "standin.h"

#include <string.h>

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, ALLOC_FAILED = 3, INVALID_VALUE = 7 };

struct heuristic {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int state;
    float waves_count;
    int reserved[4];
};

_Static_assert(sizeof(struct heuristic) == 96, "cublasLtMatmulHeuristicResult_t");

STANDIN_CREATE(cublasLtCreate, ALLOC_FAILED)
STANDIN_DESTROY(cublasLtDestroy)
STANDIN_CREATE(cublasLtMatmulDescCreate, ALLOC_FAILED)
STANDIN_DESTROY(cublasLtMatmulDescDestroy)
STANDIN_CREATE(cublasLtMatrixLayoutCreate, ALLOC_FAILED)
STANDIN_DESTROY(cublasLtMatrixLayoutDestroy)
STANDIN_CREATE(cublasLtMatmulPreferenceCreate, ALLOC_FAILED)
STANDIN_DESTROY(cublasLtMatmulPreferenceDestroy)

STANDIN(int, cublasLtMatmulAlgoGetHeuristic,
        (void *handle, void *product, void *a, void *b, void *c, void *d, void *preference,
         int wanted, struct heuristic *results, int *count))
{
    (void)handle, (void)product, (void)a, (void)b, (void)c, (void)d, (void)preference;
    if (wanted < 1 || !results || !count)
        return INVALID_VALUE;
    memset(results, 0, sizeof *results);
    results->waves_count = 1;
    *count = 1;
    return SUCCESS;
}

STANDIN(int, cublasLtMatmulAlgoCheck,
        (void *handle, void *product, void *a, void *b, void *c, void *d, const void *algorithm,
         struct heuristic *result))
{
    (void)handle, (void)product, (void)a, (void)b, (void)c, (void)d;
    if (!algorithm || !result)
        return INVALID_VALUE;
    memset(result, 0, sizeof *result);
    memcpy(result->algorithm, algorithm, sizeof result->algorithm);
    result->waves_count = 1;
    return SUCCESS;
}

STANDIN(const char *, cublasLtGetStatusName, (int status))
{
    return status ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_SUCCESS";
}
STANDIN(const char *, cublasLtGetStatusString, (int status))
{
    return cublasLtGetStatusName(status);
}

STANDIN(size_t, cublasLtGetVersion, (void))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return (size_t)runtime / 1000 * 10000;
}
