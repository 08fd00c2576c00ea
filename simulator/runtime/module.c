/* SPDX-License-Identifier: MIT */
/*
 * Kernels. A launch makes CUDA's checks and computes nothing. A kernel is identified by the address
 * of its host function. A registered kernel is launched through the driver.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "call.h"
#include "context.h"
#include "only_here.h"
#include "registry.h"
#include "soname.h"

enum { THREADS_PER_BLOCK = 1024, REGISTERS = 32, NO_PREFERENCE = -1 };

/* --- launches --- */

/* The first members of cudaLaunchConfig_t; launch attributes follow. */
struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

/* Configurations that <<<…>>> has pushed and no launch has popped yet. They nest when an argument
 * of a launch contains a launch. */
enum { PENDING_LIMIT = 16 };
static _Thread_local struct configuration pending[PENDING_LIMIT];
static _Thread_local int pending_count;

static cudaError_t configuration_push(struct configuration configuration)
{
    if (pending_count == PENDING_LIMIT)
        return cudaErrorLaunchMaxDepthExceeded;
    pending[pending_count++] = configuration;
    return cudaSuccess;
}

GMT_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                    cudaStream_t stream)
{
    return CALL(NEEDS_NOTHING,
                configuration_push((struct configuration){grid, block, shared_bytes, stream}));
}

static cudaError_t configuration_pop(struct configuration *configuration)
{
    if (pending_count == 0)
        return cudaErrorMissingConfiguration;
    *configuration = pending[--pending_count];
    return cudaSuccess;
}

static cudaError_t pop_into(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    struct configuration configuration;
    const cudaError_t error = configuration_pop(&configuration);
    if (error)
        return error;
    *grid = configuration.grid;
    *block = configuration.block;
    *shared_bytes = configuration.shared_bytes;
    memcpy(stream, &configuration.stream, sizeof configuration.stream);
    return cudaSuccess;
}

GMT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                                  void *stream)
{
    return CALL(NEEDS_NOTHING, pop_into(grid, block, shared_bytes, stream));
}

static bool is_launchable(const struct configuration *configuration)
{
    const dim3 grid = configuration->grid, block = configuration->block;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
        return false;
    if (block.x > THREADS_PER_BLOCK || block.y > THREADS_PER_BLOCK || block.z > THREADS_PER_BLOCK)
        return false;
    return (uint64_t)block.x * block.y * block.z <= THREADS_PER_BLOCK;
}

/* Launches a kernel that is unknown to the driver: adds an empty node to a captured stream, or only
 * checks the stream's handle. */
static CUresult launch_unknown(enum stream_form form, CUstream stream)
{
    const struct driver_table *driver = call_driver();
    CUstreamCaptureStatus status;
    const CUgraphNode *dependencies = NULL;
    CUgraphNode node = NULL;
    CUgraph graph = NULL;
    size_t count = 0;
    CUresult result = driver->cuStreamGetCaptureInfo_v2[form](stream, &status, NULL, &graph,
                                                              &dependencies, &count);
    if (result || status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return result;
    result = driver->cuGraphAddEmptyNode(&node, graph, dependencies, count);
    return result ? result
                  : driver->cuStreamUpdateCaptureDependencies_v2[form](
                        stream, &node, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

static cudaError_t kernel_launch(enum stream_form form, const void *kernel,
                                 struct configuration configuration)
{
    const dim3 grid = configuration.grid, block = configuration.block;
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!is_launchable(&configuration))
        return cudaErrorInvalidConfiguration;
    const CUfunction function = registry_kernel(kernel);
    if (!function)
        return error_of_driver(launch_unknown(form, configuration.stream));
    return error_of_driver(call_driver()->cuLaunchKernel[form](
        function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
        (unsigned int)configuration.shared_bytes, configuration.stream, NULL, NULL));
}

TWIN(_ptsz, cudaLaunchKernel,
     (const void *kernel, dim3 grid, dim3 block, GMT_UNUSED void **arguments, size_t shared_bytes,
      cudaStream_t stream),
     NEEDS_CONTEXT,
     kernel_launch(form, kernel, (struct configuration){grid, block, shared_bytes, stream}))
TWIN(_ptsz, cudaLaunchCooperativeKernel,
     (const void *kernel, dim3 grid, dim3 block, GMT_UNUSED void **arguments, size_t shared_bytes,
      cudaStream_t stream),
     NEEDS_CONTEXT,
     kernel_launch(form, kernel, (struct configuration){grid, block, shared_bytes, stream}))
TWIN(_ptsz, __cudaLaunchKernel,
     (const void *kernel, dim3 grid, dim3 block, GMT_UNUSED void **arguments, size_t shared_bytes,
      cudaStream_t stream),
     NEEDS_CONTEXT,
     kernel_launch(form, kernel, (struct configuration){grid, block, shared_bytes, stream}))

static cudaError_t launch_config(enum stream_form form, const cudaLaunchConfig_t *config,
                                 const void *kernel)
{
    struct configuration configuration;
    memcpy(&configuration, config, sizeof configuration);
    return kernel_launch(form, kernel, configuration);
}

TWIN(_ptsz, cudaLaunchKernelExC,
     (const cudaLaunchConfig_t *config, const void *kernel, GMT_UNUSED void **arguments),
     NEEDS_CONTEXT, CALL_UNLESS_NULL(config, launch_config(form, config, kernel)))

static cudaError_t get_kernel(const void **kernel, const void *host_function)
{
    *kernel = host_function;
    return cudaSuccess;
}

GMT_EXPORT cudaError_t __cudaGetKernel(const void **kernel, const void *host_function)
{
    return CALL(NEEDS_NOTHING, CALL_UNLESS_NULL(kernel, get_kernel(kernel, host_function)));
}

/* --- attributes of kernels --- */

static cudaError_t ask_device(int *value, CUdevice_attribute attribute)
{
    int ordinal;
    CUdevice device;
    cudaError_t error = context_current_device(&ordinal);
    if (error == cudaSuccess)
        error = context_device(ordinal, &device);
    if (error == cudaSuccess)
        error = error_of_driver(call_driver()->cuDeviceGetAttribute(value, attribute, device));
    return error;
}

/* In headers of CUDA 11.7 and earlier, the struct ends before the members for clusters. */
enum { SIZE_OF_11 = offsetof(struct cudaFuncAttributes, clusterDimMustBeSet) };

/* The architecture matters because CUB refuses a kernel whose architecture is not the one that CUB
 * was compiled for. */
static cudaError_t get_attributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    int major = 0, minor = 0, shared_bytes = 0;
    cudaError_t error = ask_device(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    if (error == cudaSuccess)
        error = ask_device(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (error == cudaSuccess)
        error = ask_device(&shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    if (error)
        return error;
    const int architecture = registry_architecture(kernel, major * 10 + minor);
    const struct cudaFuncAttributes found = {
        .maxThreadsPerBlock = THREADS_PER_BLOCK,
        .numRegs = REGISTERS,
        .ptxVersion = architecture ? architecture : major * 10 + minor,
        .binaryVersion = major * 10 + minor,
        .maxDynamicSharedSizeBytes = shared_bytes,
        .preferredShmemCarveout = NO_PREFERENCE,
    };
    memcpy(attributes, &found, runtime_version() < 12000 ? SIZE_OF_11 : sizeof found);
    return cudaSuccess;
}

static cudaError_t get_attributes_of(struct cudaFuncAttributes *attributes, const void *kernel)
{
    return kernel ? get_attributes(attributes, kernel) : cudaErrorInvalidDeviceFunction;
}

GMT_EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                             const void *kernel)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(attributes, get_attributes_of(attributes, kernel)));
}

/* Accepts a setting of the kernel without effect, because kernels do not run. */
static cudaError_t kernel_accept(const void *kernel)
{
    return kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

GMT_EXPORT cudaError_t cudaFuncSetAttribute(const void *kernel,
                                            GMT_UNUSED enum cudaFuncAttribute attribute,
                                            GMT_UNUSED int value)
{
    return CALL(NEEDS_CONTEXT, kernel_accept(kernel));
}

GMT_EXPORT cudaError_t cudaFuncSetCacheConfig(const void *kernel,
                                              GMT_UNUSED enum cudaFuncCache config)
{
    return CALL(NEEDS_CONTEXT, kernel_accept(kernel));
}

static cudaError_t count_blocks(int *count, const void *kernel, int block_size)
{
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (block_size <= 0)
        return cudaErrorInvalidValue;
    *count = block_size <= THREADS_PER_BLOCK;
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *kernel,
                                                                     int block_size,
                                                                     GMT_UNUSED size_t shared_bytes)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(count, count_blocks(count, kernel, block_size)));
}

GMT_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, const void *kernel, int block_size, GMT_UNUSED size_t shared_bytes,
    GMT_UNUSED unsigned int flags)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(count, count_blocks(count, kernel, block_size)));
}
