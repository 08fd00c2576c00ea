/* SPDX-License-Identifier: MIT */
/*
 * cuBLAS: handles and the workspaces that cuBLAS documents. Creating a handle allocates its default
 * workspaces: those of CUBLAS_WORKSPACE_CONFIG, else two of 4 MiB and eight of 16 KiB. On compute
 * capability 9.0 the default is one workspace of 32 MiB. With CUDA 13 it is three workspaces, of 64
 * MiB, 128 KiB and 1 KiB, as recorded on an H100 (tests/gpu/results).
 */
#include "standin.h"

#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7 };

struct handle {
    void *workspace, *stream;
    int math_mode, pointer_mode;
};

/* Parses ":KiB:count:KiB:count…" to bytes. 0: the text has another form. */
static size_t parse_config(const char *config)
{
    size_t bytes = 0;
    int length;
    for (unsigned kib, count; sscanf(config, ":%6u:%6u%n", &kib, &count, &length) == 2;
         config += length)
        bytes += (size_t)kib * 1024 * count;
    return *config ? 0 : bytes;
}

static size_t default_workspace_bytes(void)
{
    const char *config = getenv("CUBLAS_WORKSPACE_CONFIG");
    int device = 0, major = 0, minor = 0, version = 0;
    if (config && *config)
        return parse_config(config);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (major != 9 || minor != 0)
        return ((size_t)8 << 20) + ((size_t)128 << 10);
    cudaRuntimeGetVersion(&version);
    return version < 13000 ? (size_t)32 << 20 : ((size_t)64 << 20) + ((size_t)129 << 10);
}

STANDIN(int, cublasCreate_v2, (struct handle * *created))
{
    const size_t bytes = default_workspace_bytes();
    struct handle *handle = calloc(1, sizeof *handle);
    *created = NULL;
    if (!handle)
        return ALLOC_FAILED;
    if (bytes && !(handle->workspace = standin_take_memory(bytes))) {
        free(handle);
        return ALLOC_FAILED;
    }
    *created = handle;
    return SUCCESS;
}

STANDIN(int, cublasDestroy_v2, (struct handle * handle))
{
    if (!handle)
        return NOT_INITIALIZED;
    if (handle->workspace)
        cudaFree(handle->workspace);
    free(handle);
    return SUCCESS;
}

#define SETTER(name, type, member)                                                                 \
    STANDIN(int, name, (struct handle * handle, type value))                                       \
    {                                                                                              \
        if (!handle)                                                                               \
            return NOT_INITIALIZED;                                                                \
        handle->member = value;                                                                    \
        return SUCCESS;                                                                            \
    }
#define GETTER(name, type, member)                                                                 \
    STANDIN(int, name, (const struct handle *handle, type *value))                                 \
    {                                                                                              \
        if (!handle)                                                                               \
            return NOT_INITIALIZED;                                                                \
        *value = handle->member;                                                                   \
        return SUCCESS;                                                                            \
    }

SETTER(cublasSetStream_v2, void *, stream)
GETTER(cublasGetStream_v2, void *, stream)
SETTER(cublasSetMathMode, int, math_mode)
GETTER(cublasGetMathMode, int, math_mode)
SETTER(cublasSetPointerMode_v2, int, pointer_mode)
GETTER(cublasGetPointerMode_v2, int, pointer_mode)

STANDIN(int, cublasGetVersion_v2, (const struct handle *handle, int *version))
{
    int runtime = 0;
    (void)handle;
    if (!version)
        return INVALID_VALUE;
    cudaRuntimeGetVersion(&runtime);
    *version = runtime / 1000 * 10000 + STANDIN_MINOR * 100;
    return SUCCESS;
}

STANDIN(const char *, cublasGetStatusName, (int status))
{
    return status ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_SUCCESS";
}
STANDIN(const char *, cublasGetStatusString, (int status))
{
    return cublasGetStatusName(status);
}

static int major_version(void)
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return runtime / 1000;
}

STANDIN_PROPERTY(cublasGetProperty, major_version())
