/* SPDX-License-Identifier: MIT */
/*
 * Fills (cuMemset…). A fill writes memory that the host can access. For device memory, contents.h
 * keeps the contents of small fills.
 */
#include <stdlib.h>
#include <string.h>

#include "simulator/driver/stream/capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/machine/contents.h"
#include "simulator/driver/machine/host.h"
#include "simulator/driver/memory/copy_side.h"
#include "simulator/driver/stream/stream.h"

/* Rows of elements of 1, 2 or 4 bytes. */
struct fill {
    uint64_t address, pitch_bytes, width, height;
    unsigned value, element_bytes;
};

static void fill_host_row(unsigned char *bytes, const struct fill *fill)
{
    for (uint64_t i = 0; i < fill->width; i++)
        memcpy(bytes + i * fill->element_bytes, &fill->value, fill->element_bytes);
}

static void fill_row(uint64_t address, const struct fill *fill, bool is_host)
{
    const uint64_t size_bytes = fill->width * fill->element_bytes;
    unsigned char *bytes = NULL;
    if (is_host) {
        fill_host_row(host_pointer(address), fill);
        return;
    }
    if (size_bytes <= CONTENTS_COPY_BYTES_MAX && contents_are_kept())
        bytes = malloc(size_bytes);
    if (bytes) {
        fill_host_row(bytes, fill);
        contents_write(address, size_bytes, bytes, CONTENTS_KNOWN);
    } else {
        contents_forget(address, size_bytes);
    }
    free(bytes);
}

static CUresult fill_rows(const struct fill *fill)
{
    struct copy_side place = {.address = fill->address, .pitch_bytes = fill->pitch_bytes};
    struct box box = {.height = fill->height, .depth = 1};
    if (GMT_MUL_OVERFLOWS(fill->width, fill->element_bytes, &box.width_bytes) ||
        fill->address % fill->element_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = copy_side_check_box(&place, &box);
    if (result)
        return result;
    for (uint64_t y = 0; fill->width && y < fill->height; y++)
        fill_row(fill->address + y * fill->pitch_bytes, fill, place.is_host);
    stream_work(WORK_COPY_NS);
    return CUDA_SUCCESS;
}

static CUresult memory_fill(const char *function, const struct fill *fill, CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    work.memset.dst = fill->address;
    work.memset.elementSize = fill->element_bytes;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        capture_lets_through(&call, stream, &work))
        call.result = fill_rows(fill);
    return call_end(&call);
}

/* Defines a function and its variants. The element is the value's first bytes, little-endian. */
#define FILL(suffix, name, parameters, element_bytes, pitch_bytes, width, height, stream)          \
    CUresult name parameters                                                                       \
    {                                                                                              \
        const struct fill rows = {address, pitch_bytes, width, height, value, element_bytes};      \
        return memory_fill(#name, &rows, stream);                                                  \
    }                                                                                              \
    CUresult name##suffix parameters                                                               \
    {                                                                                              \
        const struct fill rows = {address, pitch_bytes, width, height, value, element_bytes};      \
        return memory_fill(#name #suffix, &rows, stream);                                          \
    }

FILL(_ptds, cuMemsetD8_v2, (CUdeviceptr address, unsigned char value, size_t count), 1, 0, count, 1,
     NULL)
FILL(_ptds, cuMemsetD16_v2, (CUdeviceptr address, unsigned short value, size_t count), 2, 0, count,
     1, NULL)
FILL(_ptds, cuMemsetD32_v2, (CUdeviceptr address, unsigned int value, size_t count), 4, 0, count, 1,
     NULL)
FILL(_ptsz, cuMemsetD8Async,
     (CUdeviceptr address, unsigned char value, size_t count, CUstream stream), 1, 0, count, 1,
     stream)
FILL(_ptsz, cuMemsetD16Async,
     (CUdeviceptr address, unsigned short value, size_t count, CUstream stream), 2, 0, count, 1,
     stream)
FILL(_ptsz, cuMemsetD32Async,
     (CUdeviceptr address, unsigned int value, size_t count, CUstream stream), 4, 0, count, 1,
     stream)
FILL(_ptds, cuMemsetD2D8_v2,
     (CUdeviceptr address, size_t pitch_bytes, unsigned char value, size_t width, size_t height), 1,
     pitch_bytes, width, height, NULL)
FILL(_ptds, cuMemsetD2D16_v2,
     (CUdeviceptr address, size_t pitch_bytes, unsigned short value, size_t width, size_t height),
     2, pitch_bytes, width, height, NULL)
FILL(_ptds, cuMemsetD2D32_v2,
     (CUdeviceptr address, size_t pitch_bytes, unsigned int value, size_t width, size_t height), 4,
     pitch_bytes, width, height, NULL)
FILL(_ptsz, cuMemsetD2D8Async,
     (CUdeviceptr address, size_t pitch_bytes, unsigned char value, size_t width, size_t height,
      CUstream stream),
     1, pitch_bytes, width, height, stream)
FILL(_ptsz, cuMemsetD2D16Async,
     (CUdeviceptr address, size_t pitch_bytes, unsigned short value, size_t width, size_t height,
      CUstream stream),
     2, pitch_bytes, width, height, stream)
FILL(_ptsz, cuMemsetD2D32Async,
     (CUdeviceptr address, size_t pitch_bytes, unsigned int value, size_t width, size_t height,
      CUstream stream),
     4, pitch_bytes, width, height, stream)
