/* SPDX-License-Identifier: MIT */
/* cuSPARSE: opaque descriptors and no workspace, because only cuSPARSE knows its real size. */
#include "standin.h"

enum { ALLOC_FAILED = 2 };

STANDIN_CREATE(cusparseCreate, ALLOC_FAILED)
STANDIN_DESTROY(cusparseDestroy)
STANDIN_CREATE(cusparseCreateMatDescr, ALLOC_FAILED)
STANDIN_DESTROY(cusparseDestroyMatDescr)
STANDIN_CREATE(cusparseCreateDnMat, ALLOC_FAILED)
STANDIN_DESTROY(cusparseDestroyDnMat)
STANDIN_CREATE(cusparseCreateDnVec, ALLOC_FAILED)
STANDIN_DESTROY(cusparseDestroyDnVec)
STANDIN_CREATE(cusparseCreateCsr, ALLOC_FAILED)
STANDIN_CREATE(cusparseCreateCoo, ALLOC_FAILED)
STANDIN_DESTROY(cusparseDestroySpMat)
STANDIN_CREATE(cusparseSpGEMM_createDescr, ALLOC_FAILED)
STANDIN_DESTROY(cusparseSpGEMM_destroyDescr)
STANDIN_CREATE(cusparseSpSM_createDescr, ALLOC_FAILED)
STANDIN_DESTROY(cusparseSpSM_destroyDescr)
STANDIN_CREATE(cusparseSpSV_createDescr, ALLOC_FAILED)
STANDIN_DESTROY(cusparseSpSV_destroyDescr)

STANDIN(const char *, cusparseGetErrorString, (int status))
{
    return status ? "operation not supported" : "success";
}

STANDIN_NO_BYTES(cusparseSpMV_bufferSize, size_t, 10)
STANDIN_NO_BYTES(cusparseSpSV_bufferSize, size_t, 10)
STANDIN_NO_BYTES(cusparseSpSM_bufferSize, size_t, 11)
STANDIN_NO_BYTES(cusparseSpMM_bufferSize, size_t, 11)
STANDIN_NO_BYTES(cusparseSDDMM_bufferSize, size_t, 11)
STANDIN_NO_BYTES(cusparseSpGEMM_workEstimation, size_t, 12)
STANDIN_NO_BYTES(cusparseSpGEMM_compute, size_t, 12)
STANDIN_NO_BYTES(cusparseXcoosort_bufferSizeExt, size_t, 7)
STANDIN_NO_BYTES(cusparseXcsrsort_bufferSizeExt, size_t, 7)

/* Defines one function for each number type. */
#define NO_BYTES(name, type, position)                                                             \
    STANDIN_NO_BYTES(cusparseS##name, type, position)                                              \
    STANDIN_NO_BYTES(cusparseD##name, type, position)                                              \
    STANDIN_NO_BYTES(cusparseC##name, type, position)                                              \
    STANDIN_NO_BYTES(cusparseZ##name, type, position)
NO_BYTES(bsrsv2_bufferSize, int, 12)
NO_BYTES(bsrsm2_bufferSize, int, 14)
NO_BYTES(csrgeam2_bufferSizeExt, size_t, 20)

/* The number of elements of a product depends on values that are not computed; 0 is returned. */
STANDIN(int, cusparseSpMatGetSize,
        (const void *matrix, int64_t *rows, int64_t *columns, int64_t *elements))
{
    (void)matrix;
    *rows = *columns = *elements = 0;
    return 0;
}

#define MAJOR_VERSION 12 /* with CUDA 12 and 13 */

STANDIN_PROPERTY(cusparseGetProperty, MAJOR_VERSION)

STANDIN(int, cusparseGetVersion, (const void *handle, int *version))
{
    (void)handle;
    *version = MAJOR_VERSION * 1000 + STANDIN_MINOR * 10;
    return 0;
}
