/* SPDX-License-Identifier: MIT */
/* cuSPARSE: descriptors that nobody looks into. What its buffers would need only cuSPARSE knows. */
#include "standins/standin.h"

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
