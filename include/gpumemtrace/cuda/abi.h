/* SPDX-License-Identifier: MIT */
/*
 * The one way to include CUDA's declarations: NVIDIA's headers if the build has them
 * (GPUMEMTRACE_REAL_CUDA_H), else our declarations of the same ABI. In both cases a function has
 * the name of its exported symbol (cuMemAlloc_v2). This file also declares symbols that NVIDIA's
 * headers do not declare (cuMemAllocAsync_ptsz, cuGetProcAddress beside cuGetProcAddress_v2).
 *
 * With NVIDIA's headers the compiler sees every prototype twice, so a mistake in our prototypes is
 * an error.
 */
#pragma once

#ifdef GPUMEMTRACE_REAL_CUDA_H

/* The recorder hooks old functions as well as new ones. */
#ifndef CUDA_ENABLE_DEPRECATED
#define CUDA_ENABLE_DEPRECATED
#endif
#include <cuda.h>
#if CUDA_VERSION < 12000
/* These functions had other parameters before CUDA 12; the declarations below replace NVIDIA's. */
#define cudaGetDriverEntryPoint cudaGetDriverEntryPoint_of_cuda_11
#define cudaGraphInstantiate cudaGraphInstantiate_of_cuda_11
#endif
#include <cuda_runtime_api.h>
#undef cudaGetDriverEntryPoint
#undef cudaGraphInstantiate

/* NVIDIA's headers rename functions to their newest form. Here a name means the symbol itself. */
#undef cuArray3DCreate
#undef cuArray3DGetDescriptor
#undef cuArrayCreate
#undef cuArrayGetDescriptor
#undef cuCtxCreate
#undef cuCtxCreate_v3
#undef cuCtxCreate_v4
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuDeviceGetUuid
#undef cuDeviceGetUuid_v2
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuDeviceTotalMem
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef cuGraphAddDependencies
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuGraphGetEdges
#undef cuGraphInstantiate
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies
#undef cuGraphicsResourceGetMappedPointer
#undef cuGraphicsResourceSetMapFlags
#undef cuIpcOpenMemHandle
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuLinkCreate
#undef cuMemAdvise
#undef cuMemAlloc
#undef cuMemAllocHost
#undef cuMemAllocPitch
#undef cuMemFree
#undef cuMemGetAddressRange
#undef cuMemGetInfo
#undef cuMemHostGetDevicePointer
#undef cuMemHostRegister
#undef cuMemPrefetchAsync
#undef cuMemPrefetchAsync_v2
#undef cuMemcpy2D
#undef cuMemcpy2DAsync
#undef cuMemcpy2DUnaligned
#undef cuMemcpy3D
#undef cuMemcpy3DAsync
#undef cuMemcpy3DBatchAsync
#undef cuMemcpyAtoA
#undef cuMemcpyAtoD
#undef cuMemcpyAtoH
#undef cuMemcpyAtoHAsync
#undef cuMemcpyBatchAsync
#undef cuMemcpyDtoA
#undef cuMemcpyDtoD
#undef cuMemcpyDtoDAsync
#undef cuMemcpyDtoH
#undef cuMemcpyDtoHAsync
#undef cuMemcpyHtoA
#undef cuMemcpyHtoAAsync
#undef cuMemcpyHtoD
#undef cuMemcpyHtoDAsync
#undef cuMemsetD16
#undef cuMemsetD2D16
#undef cuMemsetD2D32
#undef cuMemsetD2D8
#undef cuMemsetD32
#undef cuMemsetD8
#undef cuModuleGetGlobal
#undef cuStreamBatchMemOp
#undef cuStreamBatchMemOp_v2
#undef cuStreamBeginCapture
#undef cuStreamDestroy
#undef cuStreamGetCaptureInfo
#undef cuStreamGetCaptureInfo_v2
#undef cuStreamGetCaptureInfo_v3
#undef cuStreamGetCtx_v2
#undef cuStreamUpdateCaptureDependencies
#undef cuStreamUpdateCaptureDependencies_v2
#undef cuStreamWaitValue32
#undef cuStreamWaitValue32_v2
#undef cuStreamWaitValue64
#undef cuStreamWaitValue64_v2
#undef cuStreamWriteValue32
#undef cuStreamWriteValue32_v2
#undef cuStreamWriteValue64
#undef cuStreamWriteValue64_v2
#undef cuTexRefGetAddress
#undef cuTexRefSetAddress
#undef cuTexRefSetAddress2D
#undef cudaGetDeviceProperties

/* Types that the prototypes below use and older headers lack. */
#if CUDA_VERSION < 12000
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUkern_st *cudaKernel_t;
typedef int CUlibraryOption;
typedef int CUdriverProcAddressQueryResult;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct cudaGraphInstantiateParams_st cudaGraphInstantiateParams;
typedef struct CUgraphExecUpdateResultInfo_st CUgraphExecUpdateResultInfo;
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0 };
#include "driver_tensor_map.h"
#elif CUDA_VERSION < 12080
typedef int CUtensorMapIm2ColWideMode;
#endif
#if CUDA_VERSION < 12010
typedef struct CUmulticastObjectProp_st {
    unsigned int numDevices;
    size_t size;
    unsigned long long handleTypes, flags;
} CUmulticastObjectProp;
typedef int CUmulticastGranularity_flags;
#endif
#if CUDA_VERSION < 12020
typedef struct CUgraphNodeParams_st CUgraphNodeParams;
#endif
#if CUDA_VERSION < 12030
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;
#endif
#if CUDA_VERSION < 12050
typedef struct CUctxCreateParams_st CUctxCreateParams;
#endif
#if CUDA_VERSION < 12080
typedef struct CUlib_st *cudaLibrary_t;
enum cudaJitOption { cudaJitMaxRegisters = 0 };
enum cudaLibraryOption { cudaLibraryBinaryIsPreserved = 1 };
#endif
#if CUDA_VERSION < 12090
typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;
typedef void (*CUlogsCallback)(void *data, int level, char *message, size_t length);
#endif
#if CUDA_VERSION < 11080
typedef struct CUlaunchConfig_st CUlaunchConfig;
typedef struct cudaLaunchConfig_st cudaLaunchConfig_t;
#endif

/* NVIDIA's header declares these only for builds of the driver itself. */
#ifndef __CUDA_API_VERSION_INTERNAL
#include "driver_old.h"
#endif
#include "driver_prototypes.h"
#include "runtime_prototypes.h"

#else

#include "runtime.h"

#endif
