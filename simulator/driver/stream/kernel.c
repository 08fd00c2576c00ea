/* SPDX-License-Identifier: MIT */
/*
 * Kernels: every kernel name is found, and a launch only advances the simulated clock.
 */
#include "capture.h"
#include "simulator/driver/machine/operation.h"
#include "simulator/driver/machine/code.h"
#include "gpumemtrace/compiler.h"
#include "stream.h"

/* --- lookup --- */

/* A function of a module is freed together with the context. A kernel of a library is freed
 * together with the library. */
static struct function *function_new(struct call *call, struct context *context, const void *owner)
{
    struct function *function = object_new(OBJECT_FUNCTION, context, sizeof *function);
    if (function)
        function->owner = owner;
    else
        call->result = CUDA_ERROR_OUT_OF_MEMORY;
    return function;
}

CUresult cuModuleGetFunction(CUfunction *handle, CUmodule module, const char *name)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, handle && name)) {
        struct function *function = NULL;
        if (object_find(module, OBJECT_MODULE))
            function = function_new(&call, call.context, module);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
        if (function)
            *handle = (CUfunction)(void *)function;
    }
    return call_end(&call);
}

CUresult cuLibraryGetKernel(CUkernel *handle, CUlibrary library, const char *name)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle && name)) {
        struct function *kernel = NULL;
        if (object_find(library, OBJECT_LIBRARY))
            kernel = function_new(&call, NULL, library);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
        if (kernel)
            *handle = (CUkernel)(void *)kernel;
    }
    return call_end(&call);
}

/* false: the result is set. */
static bool check_function(struct call *call, CUfunction function)
{
    if (!object_find(function, OBJECT_FUNCTION))
        call->result = CUDA_ERROR_INVALID_HANDLE;
    return !call->result;
}

static CUresult get_attribute(const char *name, int *value, CUfunction_attribute attribute,
                              CUfunction function)
{
    struct call call;
    if (call_begin(&call, name, CALL_NEEDS_INIT) && check_function(&call, function) &&
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

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    return get_attribute(__func__, value, attribute, function);
}

/* All devices have the same attributes. */
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    return device_at(device) ? get_attribute(__func__, value, attribute, (CUfunction)(void *)kernel)
                             : CUDA_ERROR_INVALID_DEVICE;
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

/* --- launches --- */

/* Loads a library kernel's module into the context. */
static CUresult kernel_load_module(struct context *context, CUfunction handle)
{
    struct function *function = object_find(handle, OBJECT_FUNCTION);
    if (function->life_id == context->life_id)
        return CUDA_SUCCESS;
    const struct library *library = object_find(function->owner, OBJECT_LIBRARY);
    struct module *module;
    const CUresult result = library ? code_module_of(context, library, &module) : CUDA_SUCCESS;
    if (!result)
        function->life_id = context->life_id;
    return result;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct call call;
    const CUfunction same = (CUfunction)(void *)kernel;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, function != NULL) &&
        check_function(&call, same)) {
        call.result = kernel_load_module(call.context, same);
        if (!call.result)
            *function = same;
    }
    return call_end(&call);
}

/* Returns whether every dimension of the launch is nonzero. */
static bool is_filled(const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    return kernel->gridDimX && kernel->gridDimY && kernel->gridDimZ && kernel->blockDimX &&
           kernel->blockDimY && kernel->blockDimZ;
}

static CUresult kernel_launch(const char *name, const CUDA_KERNEL_NODE_PARAMS *kernel,
                              CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    work.kernel = *kernel;
    if (call_begin(&call, name, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        check_function(&call, kernel->func) && call_requires(&call, is_filled(kernel)) &&
        capture_lets_through(&call, stream, &work)) {
        call.result = kernel_load_module(call.context, kernel->func);
        if (!call.result) {
            stream_work(WORK_LAUNCH_NS);
            operation_kernel_ran();
        }
    }
    return call_end(&call);
}

#define LAUNCH(symbol)                                                                             \
    kernel_launch(symbol,                                                                          \
                  &(CUDA_KERNEL_NODE_PARAMS){.func = function,                                     \
                                             .gridDimX = grid_x,                                   \
                                             .gridDimY = grid_y,                                   \
                                             .gridDimZ = grid_z,                                   \
                                             .blockDimX = block_x,                                 \
                                             .blockDimY = block_y,                                 \
                                             .blockDimZ = block_z},                                \
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
    return kernel_launch(name, &kernel, config->hStream);
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
