/* SPDX-License-Identifier: MIT */
/* cuDNN: version, handles and errors. Operations are in cudnn/. */
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

/* Versions 8 and 9 are linked from the same object, but a program accepts only its own major
 * version. */
static int major_version(void)
{
    static const char here;
    Dl_info info;
    return dladdr(&here, &info) && strstr(info.dli_fname, ".so.8") ? 8 : 9;
}

/* A part of the version that PyTorch was built for, numbered as in cudnnGetProperty. Defined in
 * libgpumemtrace_dryrun.so. */
__attribute__((weak)) int gpumemtrace_dryrun_cudnn_part(int major, int part);

/* Returns the version that PyTorch was built for, because PyTorch chooses code paths by it. */
static int version_part(int part)
{
    const int major = major_version();
    const int built =
        gpumemtrace_dryrun_cudnn_part ? gpumemtrace_dryrun_cudnn_part(major, part) : -1;
    const int newest[] = {major, major == 8 ? 9 : STANDIN_MINOR, major == 8 ? 99 : 0};
    return built >= 0 ? built : part >= 0 && part < 3 ? newest[part] : 0;
}

/* 8: major * 1000 + minor * 100 + patch level; 9: major * 10000 + minor * 100 + patch level. */
STANDIN(size_t, cudnnGetVersion, (void))
{
    const int major = version_part(0);
    return (size_t)(major * (major == 8 ? 1000 : 10000) + version_part(1) * 100 + version_part(2));
}

STANDIN(size_t, cudnnGetCudartVersion, (void))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return (size_t)runtime;
}

STANDIN(int, cudnnGetProperty, (int property, int *value))
{
    *value = version_part(property);
    return CUDNN_SUCCESS;
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
