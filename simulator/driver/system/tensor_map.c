/* SPDX-License-Identifier: MIT */
/*
 * Tensor maps, which kernels use to copy boxes of a tensor. The host encodes them, and they take no
 * memory. NVIDIA does not document the encoding, so the bytes are 0 here. Arguments are checked as
 * the CUDA Driver API documents (section Tensor Map Object Management). A stride may be smaller
 * than the stride of the dimension before, as in a transposed tensor.
 */
#include <string.h>

#include "simulator/driver/machine/call.h"

/* Names that NVIDIA's headers have since CUDA 12.8. */
enum { TYPE_16U4_ALIGN8B = 13, TYPE_16U4_ALIGN16B = 14, TYPE_16U6_ALIGN16B = 15 };
enum { SWIZZLE_128B_ATOM_32B = 4, SWIZZLE_128B_ATOM_64B = 6 };
enum { WIDE_MODE_W, WIDE_MODE_W128 };

/* The arguments that all encoding functions share. */
struct tensor_map {
    CUtensorMap *encoded;
    int type;
    unsigned rank;
    const void *address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *element_strides;
    int interleave, swizzle, promotion, fill;
    uint64_t row; /* elements of the box in the innermost dimension */
};

/* --- the tensor --- */

static const unsigned char type_bits[] = {8,  16, 32, 32, 64, 64, 16, 32,
                                          64, 16, 32, 32, 32, 4,  4,  6};

static bool is_between(uint64_t value, uint64_t least, uint64_t most)
{
    return value >= least && value <= most;
}

static bool is_aligned(const void *address, size_t bytes)
{
    return (uintptr_t)address % bytes == 0;
}

/* These types store 16 packed values in 16 bytes, with gaps. */
static bool has_gaps(const struct tensor_map *map)
{
    return map->type == TYPE_16U4_ALIGN16B || map->type == TYPE_16U6_ALIGN16B;
}

static size_t alignment_bytes(const struct tensor_map *map)
{
    return map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || has_gaps(map) ? 32 : 16;
}

static bool is_tensor(const struct tensor_map *map)
{
    const uint64_t dim_max = (uint64_t)1 << 32, stride_end = (uint64_t)1 << 40;
    const size_t granule = has_gaps(map) ? 128 : map->type == TYPE_16U4_ALIGN8B ? 2 : 1;
    if (!map->dims || (map->rank > 1 && !map->strides) || !map->element_strides ||
        !is_aligned(map->address, alignment_bytes(map)) || map->dims[0] % granule)
        return false;
    for (unsigned i = 0; i < map->rank; i++)
        if (!is_between(map->dims[i], 1, dim_max))
            return false;
    for (unsigned i = 0; i + 1 < map->rank; i++)
        if (map->strides[i] >= stride_end || map->strides[i] % alignment_bytes(map))
            return false;
    for (unsigned i = map->interleave ? 0 : 1; i < map->rank; i++)
        if (!is_between(map->element_strides[i], 1, 8))
            return false;
    return true;
}

/* --- layout in shared memory --- */

static bool is_float(int type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool is_swizzle_of_gaps(int swizzle)
{
    return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
           swizzle == SWIZZLE_128B_ATOM_32B || swizzle == SWIZZLE_128B_ATOM_64B;
}

static uint64_t row_bytes(const struct tensor_map *map)
{
    return map->row * type_bits[map->type] / 8;
}

static bool is_row(const struct tensor_map *map)
{
    const uint64_t swizzle_bytes = map->swizzle < 3 ? (uint64_t)16 << map->swizzle : 128;
    if (has_gaps(map) && map->row != 128)
        return false;
    return map->interleave || !map->swizzle || row_bytes(map) <= swizzle_bytes;
}

static bool is_layout(const struct tensor_map *map)
{
    if (!is_between((uint64_t)map->interleave, 0, CU_TENSOR_MAP_INTERLEAVE_32B) ||
        !is_between((uint64_t)map->swizzle, 0, SWIZZLE_128B_ATOM_64B) ||
        !is_between((uint64_t)map->promotion, 0, CU_TENSOR_MAP_L2_PROMOTION_L2_256B) ||
        !is_between((uint64_t)map->fill, 0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA))
        return false;
    return (!map->fill || is_float(map->type)) &&
           (!has_gaps(map) || is_swizzle_of_gaps(map->swizzle)) &&
           (map->type != TYPE_16U6_ALIGN16B || !map->interleave) &&
           (map->interleave != CU_TENSOR_MAP_INTERLEAVE_32B ||
            map->swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
}

/* Encodes the map if its arguments are valid. is_kind: whether the arguments that only this kind of
 * map has are valid. */
static CUresult encode(const char *function, const struct tensor_map *map, int capability_major,
                       unsigned rank_min, bool is_kind)
{
    struct call call;
    if (!call_begin(&call, function, CALL_NEEDS_CONTEXT))
        goto out;
    if (device_spec()->capability_major < capability_major) {
        call.result = CUDA_ERROR_NOT_SUPPORTED;
        goto out;
    }
    const unsigned least = map->interleave && rank_min < 3 ? 3 : rank_min;
    if (call_requires(&call, map->encoded && is_aligned(map->encoded, 64) && is_kind &&
                                 is_between((uint64_t)map->type, 0, TYPE_16U6_ALIGN16B) &&
                                 is_between(map->rank, least, 5) && is_layout(map) &&
                                 is_tensor(map) && is_row(map)))
        memset(map->encoded, 0, sizeof *map->encoded);
out:
    return call_end(&call);
}

/* --- the functions --- */

/* Fills a struct tensor_map from the parameters that all functions have under the same names. */
#define MAP(row_elements)                                                                          \
    {                                                                                              \
        .encoded = map, .type = (int)type, .rank = rank, .address = address, .dims = dims,         \
        .strides = strides, .element_strides = element_strides, .interleave = (int)interleave,     \
        .swizzle = (int)swizzle, .promotion = (int)promotion, .fill = (int)fill,                   \
        .row = (row_elements)                                                                      \
    }

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct tensor_map tiled = MAP(box ? box[0] : 0);
    bool is_box = box && rank;
    for (unsigned i = 0; is_box && i < rank && i < 5; i++)
        is_box = is_between(box[i], 1, 256);
    if (is_box && !interleave && is_between((uint64_t)type, 0, TYPE_16U6_ALIGN16B))
        is_box = row_bytes(&tiled) % 16 == 0;
    return encode(__func__, &tiled, 9, 1, is_box);
}

/* Checks the corners of a box around an image's pixels. The more dimensions the image has, the
 * smaller is the allowed range of a corner. */
static bool are_corners(unsigned rank, const int *lower, const int *upper)
{
    static const int least[] = {-32768, -128, -16};
    if (!lower || !upper || !is_between(rank, 3, 5))
        return false;
    for (unsigned i = 0; i < rank - 2; i++) {
        const int low = least[rank - 3], high = -low - 1;
        if (lower[i] < low || lower[i] > high || upper[i] < low || upper[i] > high)
            return false;
    }
    return true;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                 void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct tensor_map im2col = MAP(channels);
    return encode(__func__, &im2col, 9, 3,
                  are_corners(rank, lower, upper) && channels <= 256 && pixels <= 1024);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                     void *address, const cuuint64_t *dims,
                                     const cuuint64_t *strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t *element_strides,
                                     CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct tensor_map wide = MAP(channels);
    return encode(
        __func__, &wide, 10, 3,
        are_corners(3, &lower, &upper) && channels <= 256 && (unsigned)mode <= WIDE_MODE_W128 &&
            ((int)mode != WIDE_MODE_W || pixels <= 1024) &&
            is_between((uint64_t)swizzle, CU_TENSOR_MAP_SWIZZLE_64B, SWIZZLE_128B_ATOM_32B));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        if (device_spec()->capability_major < 9)
            call.result = CUDA_ERROR_NOT_SUPPORTED;
        else
            call_requires(&call, map && is_aligned(map, 64) && is_aligned(address, 16));
    }
    return call_end(&call);
}
