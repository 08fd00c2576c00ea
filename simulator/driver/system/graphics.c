/* SPDX-License-Identifier: MIT */
/*
 * Graphics interoperability. Every resource handle is invalid, because a simulated device has no
 * OpenGL, EGL or VDPAU objects to register.
 */
#include "gpumemtrace/compiler.h"
#include "simulator/driver/stream/stream.h"

static CUresult resource_refuse(const char *function, bool is_valid)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, is_valid))
        call.result = CUDA_ERROR_INVALID_HANDLE;
    return call_end(&call);
}

static CUresult do_cuGraphicsMapResources(const char *function, unsigned count,
                                          const CUgraphicsResource *resources)
{
    return resource_refuse(function, count && resources);
}

static CUresult do_cuGraphicsUnmapResources(const char *function, unsigned count,
                                            const CUgraphicsResource *resources)
{
    return resource_refuse(function, count && resources);
}

TWIN(_ptsz, cuGraphicsMapResources,
     (unsigned int count, CUgraphicsResource *resources, GMT_UNUSED CUstream stream), count,
     resources)
TWIN(_ptsz, cuGraphicsUnmapResources,
     (unsigned int count, CUgraphicsResource *resources, GMT_UNUSED CUstream stream), count,
     resources)

CUresult cuGraphicsUnregisterResource(GMT_UNUSED CUgraphicsResource resource)
{
    return resource_refuse(__func__, true);
}

CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *address, size_t *size_bytes,
                                               GMT_UNUSED CUgraphicsResource resource)
{
    return resource_refuse(__func__, address && size_bytes);
}
