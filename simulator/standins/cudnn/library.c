/* SPDX-License-Identifier: MIT */
/* cuDNN: its version, handles and errors. cudnn/ answers for its operations. */
#include "simulator/standins/standin.h"

#include <dlfcn.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "status.h"

struct handle {
    void *stream;
};

STANDIN(int, cudnnCreate, (struct handle * *created))
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}
STANDIN_DESTROY(cudnnDestroy)

STANDIN(int, cudnnSetStream, (struct handle * handle, void *stream))
{
    handle->stream = stream;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnGetStream, (const struct handle *handle, void **stream))
{
    *stream = handle->stream;
    return CUDNN_SUCCESS;
}

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
