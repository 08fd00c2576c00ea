/* SPDX-License-Identifier: MIT */
/* cuSOLVER: handles that nobody looks into. What its buffers would need only cuSOLVER knows. */
#include "standins/standin.h"

enum { ALLOC_FAILED = 2 };

STANDIN_CREATE(cusolverDnCreate, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroy)
STANDIN_CREATE(cusolverDnCreateParams, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroyParams)
STANDIN_CREATE(cusolverDnCreateGesvdjInfo, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroyGesvdjInfo)
STANDIN_CREATE(cusolverDnCreateSyevjInfo, ALLOC_FAILED)
STANDIN_DESTROY(cusolverDnDestroySyevjInfo)
