/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests that tensor maps are encoded as the CUDA Driver API documents it, and that they take no
 * memory. An argument that the documentation does not allow is refused.
 */
#include <stdint.h>

#include "sim_device.h"

/* A map of a matrix of 1024 x 512 half-precision numbers in boxes of 64 x 128; tests change one
 * member. */
struct request {
    CUtensorMap *map;
    int type;
    unsigned rank;
    uintptr_t address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *box, *steps;
    int interleave, swizzle, promotion, fill;
};

static CUtensorMap map;
static const cuuint64_t dims[5] = {512, 1024, 4, 4, 4};
static const cuuint64_t strides[4] = {1024, 1 << 20, 1 << 22, 1 << 24};
static const cuuint32_t box[5] = {64, 128, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
static const int corner[3] = {-1, -1, -1};

static struct request usual(void)
{
    return (struct request){&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                            2,    0x7f0000000000,
                            dims, strides,
                            box,  steps,
                            0,    CU_TENSOR_MAP_SWIZZLE_128B,
                            1,    0};
}

static CUresult tiled(struct request r)
{
    return cuTensorMapEncodeTiled(
        r.map, (CUtensorMapDataType)r.type, r.rank, (void *)r.address, r.dims, r.strides, r.box,
        r.steps, (CUtensorMapInterleave)r.interleave, (CUtensorMapSwizzle)r.swizzle,
        (CUtensorMapL2promotion)r.promotion, (CUtensorMapFloatOOBfill)r.fill);
}

static CUresult im2col(struct request r, const int *lower, unsigned channels, unsigned pixels)
{
    return cuTensorMapEncodeIm2col(
        r.map, (CUtensorMapDataType)r.type, r.rank, (void *)r.address, r.dims, r.strides, lower,
        corner, channels, pixels, r.steps, (CUtensorMapInterleave)r.interleave,
        (CUtensorMapSwizzle)r.swizzle, (CUtensorMapL2promotion)r.promotion,
        (CUtensorMapFloatOOBfill)r.fill);
}

/* Tensor Map Object Management, cuTensorMapEncodeTiled. */
PART(a_tiled_map_is_encoded_and_takes_no_memory)
{
    begin_cuda();
    const size_t before = free_bytes();
    memset(&map, 1, sizeof map);
    EXPECT(tiled(usual()), 0);
    CHECK(map.opaque[0] != 0x0101010101010101);
    struct request line = usual();
    line.rank = 1, line.strides = NULL;
    EXPECT(tiled(line), 0);
    struct request interleaved = usual();
    interleaved.rank = 3, interleaved.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    interleaved.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    EXPECT(tiled(interleaved), 0);
    EXPECT(cuTensorMapReplaceAddress(&map, (void *)0x7f0000000010), 0);
    EXPECT(cuTensorMapReplaceAddress(&map, (void *)0x7f0000000008), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before);
}

#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct request r = usual();                                                                \
        change;                                                                                    \
        EXPECT(tiled(r), CUDA_ERROR_INVALID_VALUE);                                                \
    } while (0)

PART(a_tiled_map_of_what_is_not_allowed_is_refused)
{
    const cuuint64_t no_dim[2] = {512, 0}, odd_stride[1] = {1023}, far_stride[1] = {1ull << 40};
    const cuuint32_t wide_box[2] = {128, 64}, high_box[2] = {64, 257}, no_box[2] = {64, 0};
    const cuuint32_t narrow_box[2] = {4, 64}, no_steps[2] = {1, 0}, far_steps[2] = {1, 9};
    begin_cuda();
    memset(&map, 1, sizeof map);
    REFUSED(r.map = NULL);
    REFUSED(r.map = (CUtensorMap *)((uintptr_t)&map + 16));
    REFUSED(r.type = 16);
    REFUSED(r.rank = 0);
    REFUSED(r.rank = 6);
    REFUSED(r.address += 8);
    REFUSED(r.dims = NULL);
    REFUSED(r.dims = no_dim);
    REFUSED(r.strides = NULL);
    REFUSED(r.strides = odd_stride);
    REFUSED(r.strides = far_stride);
    REFUSED(r.box = NULL);
    REFUSED(r.box = wide_box); /* 256 bytes in a swizzle of 128 */
    REFUSED(r.box = high_box);
    REFUSED(r.box = no_box);
    REFUSED(r.box = narrow_box); /* 8 bytes */
    REFUSED(r.steps = NULL);
    REFUSED(r.steps = no_steps);
    REFUSED(r.steps = far_steps);
    REFUSED(r.interleave = 3);
    REFUSED(r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B); /* a map of two dimensions */
    REFUSED(r.swizzle = 7);
    REFUSED(r.promotion = 4);
    REFUSED(r.fill = 2);
    REFUSED((r.type = CU_TENSOR_MAP_DATA_TYPE_UINT16, r.fill = 1));
    CHECK(map.opaque[0] == 0x0101010101010101);
}

/* cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide. */
PART(a_map_of_an_image_s_columns_is_encoded_for_three_to_five_dimensions)
{
    const int far[3] = {0, 0, -129};
    begin_cuda();
    for (unsigned rank = 1; rank < 7; rank++) {
        struct request r = usual();
        r.rank = rank;
        EXPECT(im2col(r, corner, 64, 128), rank < 3 || rank > 5 ? CUDA_ERROR_INVALID_VALUE : 0);
    }
    struct request r = usual();
    r.rank = 5;
    EXPECT(im2col(r, far, 64, 128), CUDA_ERROR_INVALID_VALUE);
    EXPECT(im2col(r, NULL, 64, 128), CUDA_ERROR_INVALID_VALUE);
    EXPECT(im2col(r, corner, 257, 128), CUDA_ERROR_INVALID_VALUE);
    EXPECT(im2col(r, corner, 64, 1025), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuTensorMapEncodeIm2colWide(
               &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)r.address, dims, strides, -1, 1,
               64, 128, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, 0, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
           CUDA_ERROR_NOT_SUPPORTED); /* before compute capability 10.0 */
}

PART(a_map_needs_a_context)
{
    EXPECT(tiled(usual()), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuInit(0), 0);
    EXPECT(tiled(usual()), CUDA_ERROR_INVALID_CONTEXT);
}

PART(a_card_before_compute_capability_9_0_has_none)
{
    begin_cuda();
    EXPECT(tiled(usual()), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuTensorMapReplaceAddress(&map, (void *)0x7f0000000010), CUDA_ERROR_NOT_SUPPORTED);
}

SIM_MAIN()
