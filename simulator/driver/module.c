/* SPDX-License-Identifier: MIT */
/*
 * Modules, libraries and kernels: code is accepted unread, every kernel name is found, a launch
 * does nothing but take time on the simulated clock.
 */
#include "capture.h"
#include "gpumemtrace/compiler.h"
#include "stream.h"

struct function {
    struct object object;
    const void *owner; /* the module or library */
};

static CUresult new_code(struct call *call, enum object_kind kind, void **handle)
{
    /* A library is loaded into every context that uses it, so it ends with none. */
    struct context *context = kind == OBJECT_LIBRARY ? NULL : call->context;
    *handle = object_new(kind, context, sizeof(struct object));
    return *handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult load(const char *function, CUmodule *module, const void *image)
{
    struct call call;
    void *handle;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, module && image)) {
        call.result = new_code(&call, OBJECT_MODULE, &handle);
        if (!call.result)
            *module = handle;
    }
    return call_end(&call);
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return load(__func__, module, path);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(__func__, module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                            GMT_UNUSED unsigned int option_count, GMT_UNUSED CUjit_option *options,
                            GMT_UNUSED void **values)
{
    return load(__func__, module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return load(__func__, module, image);
}

/* Handles of its kernels stay registered: they do nothing, and end with the context. */
static CUresult unload(const char *function, const void *handle, enum object_kind kind)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct object *code = object_find(handle, kind);
        if (code)
            object_delete(code);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuModuleUnload(CUmodule module)
{
    return unload(__func__, module, OBJECT_MODULE);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, mode != NULL))
        *mode = CU_MODULE_LAZY_LOADING;
    return call_end(&call);
}

static CUresult get_function(const char *caller, void **result, const void *owner,
                             enum object_kind owner_kind, const char *name)
{
    struct call call;
    if (call_begin(&call, caller, CALL_NEEDS_CONTEXT) && call_requires(&call, result && name)) {
        struct function *function = NULL;
        if (!object_find(owner, owner_kind))
            call.result = CUDA_ERROR_INVALID_HANDLE;
        else if ((function = object_new(OBJECT_FUNCTION, call.context, sizeof *function)))
            function->owner = owner;
        else
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
        if (function)
            *result = function;
    }
    return call_end(&call);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    void *handle = NULL;
    const CUresult result =
        get_function(__func__, function ? &handle : NULL, module, OBJECT_MODULE, name);
    if (!result)
        *function = handle;
    return result;
}

/* Variables are in the code, which nobody reads: none is ever found. */
static CUresult get_variable(const char *function, const void *owner, enum object_kind owner_kind,
                             const char *name)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, name != NULL))
        call.result =
            object_find(owner, owner_kind) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
    return call_end(&call);
}

CUresult cuModuleGetGlobal_v2(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                              CUmodule module, const char *name)
{
    return get_variable(__func__, module, OBJECT_MODULE, name);
}

CUresult cuModuleGetGlobal(GMT_UNUSED CUdeviceptr_v1 *address, GMT_UNUSED unsigned int *size_bytes,
                           CUmodule module, const char *name)
{
    return get_variable(__func__, module, OBJECT_MODULE, name);
}

/* --- libraries --- */

static CUresult load_library(const char *function, CUlibrary *library, const void *image)
{
    struct call call;
    void *handle;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, library && image)) {
        call.result = new_code(&call, OBJECT_LIBRARY, &handle);
        if (!call.result)
            *library = handle;
    }
    return call_end(&call);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, GMT_UNUSED CUjit_option *options,
                           GMT_UNUSED void **values, GMT_UNUSED unsigned int option_count,
                           GMT_UNUSED CUlibraryOption *library_options,
                           GMT_UNUSED void **library_values,
                           GMT_UNUSED unsigned int library_option_count)
{
    return load_library(__func__, library, image);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path,
                               GMT_UNUSED CUjit_option *options, GMT_UNUSED void **values,
                               GMT_UNUSED unsigned int option_count,
                               GMT_UNUSED CUlibraryOption *library_options,
                               GMT_UNUSED void **library_values,
                               GMT_UNUSED unsigned int library_option_count)
{
    return load_library(__func__, library, path);
}

CUresult cuLibraryGetGlobal(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                            CUlibrary library, const char *name)
{
    return get_variable(__func__, library, OBJECT_LIBRARY, name);
}

CUresult cuLibraryGetManaged(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                             CUlibrary library, const char *name)
{
    return get_variable(__func__, library, OBJECT_LIBRARY, name);
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return unload(__func__, library, OBJECT_LIBRARY);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    void *handle = NULL;
    const CUresult result =
        get_function(__func__, kernel ? &handle : NULL, library, OBJECT_LIBRARY, name);
    if (!result)
        *kernel = handle;
    return result;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, function != NULL)) {
        if (object_find(kernel, OBJECT_FUNCTION))
            *function = (CUfunction)(void *)kernel;
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

/* --- kernels --- */

/* false: the result is set. */
static bool check_function(struct call *call, CUfunction function)
{
    if (!object_find(function, OBJECT_FUNCTION))
        call->result = CUDA_ERROR_INVALID_HANDLE;
    return !call->result;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && check_function(&call, function) &&
        call_requires(&call, value && (int)attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX)) {
        const int version = device_spec()->capability_major * 10 + device_spec()->capability_minor;
        *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
                 : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                 : attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION ||
                         attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION
                     ? version
                     : 0;
    }
    return call_end(&call);
}

CUresult cuFuncSetAttribute(CUfunction function, GMT_UNUSED CUfunction_attribute attribute,
                            GMT_UNUSED int value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        check_function(&call, function);
    return call_end(&call);
}

CUresult cuFuncSetCacheConfig(CUfunction function, GMT_UNUSED CUfunc_cache config)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        check_function(&call, function);
    return call_end(&call);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && check_function(&call, handle)) {
        const struct function *function = object_find(handle, OBJECT_FUNCTION);
        struct object *owner = object_find(function->owner, OBJECT_MODULE);
        if (call_requires(&call, module && owner))
            *module = (CUmodule)(void *)owner;
    }
    return call_end(&call);
}

/* A launch of nothing is refused. */
static bool is_filled(const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    return kernel->gridDimX && kernel->gridDimY && kernel->gridDimZ && kernel->blockDimX &&
           kernel->blockDimY && kernel->blockDimZ;
}

static CUresult launch(const char *name, const CUDA_KERNEL_NODE_PARAMS *kernel, CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    work.kernel = *kernel;
    if (call_begin(&call, name, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        check_function(&call, kernel->func) && call_requires(&call, is_filled(kernel)) &&
        capture_lets_through(&call, stream, &work))
        stream_work(WORK_LAUNCH_NS);
    return call_end(&call);
}

#define LAUNCH(symbol)                                                                             \
    launch(symbol,                                                                                 \
           &(CUDA_KERNEL_NODE_PARAMS){.func = function,                                            \
                                      .gridDimX = grid_x,                                          \
                                      .gridDimY = grid_y,                                          \
                                      .gridDimZ = grid_z,                                          \
                                      .blockDimX = block_x,                                        \
                                      .blockDimY = block_y,                                        \
                                      .blockDimZ = block_z},                                       \
           stream)

#define DEFINE_LAUNCH(symbol)                                                                      \
    CUresult symbol(CUfunction function, unsigned int grid_x, unsigned int grid_y,                 \
                    unsigned int grid_z, unsigned int block_x, unsigned int block_y,               \
                    unsigned int block_z, GMT_UNUSED unsigned int shared_bytes, CUstream stream,   \
                    GMT_UNUSED void **parameters, GMT_UNUSED void **extra)                         \
    {                                                                                              \
        return LAUNCH(#symbol);                                                                    \
    }
DEFINE_LAUNCH(cuLaunchKernel)
DEFINE_LAUNCH(cuLaunchKernel_ptsz)

#define DEFINE_COOPERATIVE_LAUNCH(symbol)                                                          \
    CUresult symbol(CUfunction function, unsigned int grid_x, unsigned int grid_y,                 \
                    unsigned int grid_z, unsigned int block_x, unsigned int block_y,               \
                    unsigned int block_z, GMT_UNUSED unsigned int shared_bytes, CUstream stream,   \
                    GMT_UNUSED void **parameters)                                                  \
    {                                                                                              \
        return LAUNCH(#symbol);                                                                    \
    }
DEFINE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel)
DEFINE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel_ptsz)

static CUresult do_cuLaunchKernelEx(const char *name, const CUlaunchConfig *config,
                                    CUfunction function)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS kernel = {
        .func = function,
        .gridDimX = config->gridDimX,
        .gridDimY = config->gridDimY,
        .gridDimZ = config->gridDimZ,
        .blockDimX = config->blockDimX,
        .blockDimY = config->blockDimY,
        .blockDimZ = config->blockDimZ,
    };
    return launch(name, &kernel, config->hStream);
}

TWIN(_ptsz, cuLaunchKernelEx,
     (const CUlaunchConfig *config, CUfunction function, GMT_UNUSED void **parameters,
      GMT_UNUSED void **extra),
     config, function)

static CUresult occupancy(const char *name, int *count, CUfunction function)
{
    struct call call;
    if (call_begin(&call, name, CALL_NEEDS_CONTEXT) && check_function(&call, function) &&
        call_requires(&call, count != NULL))
        *count = 1;
    return call_end(&call);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function,
                                                     GMT_UNUSED int block_size,
                                                     GMT_UNUSED size_t shared_bytes)
{
    return occupancy(__func__, count, function);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction function,
                                                              GMT_UNUSED int block_size,
                                                              GMT_UNUSED size_t shared_bytes,
                                                              GMT_UNUSED unsigned int flags)
{
    return occupancy(__func__, count, function);
}
