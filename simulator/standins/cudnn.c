/* SPDX-License-Identifier: MIT */
/* cuDNN: its version and handles; dryrun.c keeps PyTorch from using more. */
#include "standin.h"

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, ALLOC_FAILED = 1003 };

STANDIN_CREATE(cudnnCreate, ALLOC_FAILED)
STANDIN_DESTROY(cudnnDestroy)

/* Newer than any program was built for, because programs accept a newer minor version. */
#define MINOR 99

STANDIN(size_t, cudnnGetVersion, (void))
{
    return 90000 + MINOR * 100;
}

STANDIN(size_t, cudnnGetCudartVersion, (void))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return (size_t)runtime;
}

STANDIN(int, cudnnGetProperty, (int property, int *value))
{
    *value = property == 0 ? 9 : property == 1 ? MINOR : 0;
    return SUCCESS;
}

STANDIN(const char *, cudnnGetErrorString, (int status))
{
    return status ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_SUCCESS";
}

STANDIN(void, cudnnGetLastErrorString, (char *text, size_t bytes))
{
    if (bytes)
        text[0] = '\0';
}
