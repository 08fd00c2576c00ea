/* SPDX-License-Identifier: MIT */
/* cuDNN: its version and handles; dryrun.c keeps PyTorch from using more. */
#include "standin.h"

#include <dlfcn.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, ALLOC_FAILED = 1003 };

STANDIN_CREATE(cudnnCreate, ALLOC_FAILED)
STANDIN_DESTROY(cudnnDestroy)

/* Version 8 and 9 are linked from the same object; a program accepts its own major version. */
static int major_version(void)
{
    static const char here;
    Dl_info info;
    return dladdr(&here, &info) && strstr(info.dli_fname, ".so.8") ? 8 : 9;
}

/* 8: major * 1000 + minor * 100 + patch level; 9: major * 10000 + minor * 100 + patch level. */
STANDIN(size_t, cudnnGetVersion, (void))
{
    return major_version() == 8 ? 8999 : 90000 + STANDIN_MINOR * 100;
}

STANDIN(size_t, cudnnGetCudartVersion, (void))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return (size_t)runtime;
}

STANDIN_PROPERTY(cudnnGetProperty, major_version())

STANDIN(const char *, cudnnGetErrorString, (int status))
{
    return status ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_SUCCESS";
}

STANDIN(void, cudnnGetLastErrorString, (char *text, size_t bytes))
{
    if (bytes)
        text[0] = '\0';
}
