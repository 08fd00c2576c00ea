/* SPDX-License-Identifier: MIT */
/*
 * Compares the computed sizes of CUDA arrays with sums worked out by hand.
 */
#include "interpose/cuda/array_size.h"
#include "tests/unit/unit_test.h"

static uint64_t of_array(size_t width, size_t height, CUarray_format format, unsigned channels)
{
    const CUDA_ARRAY_DESCRIPTOR descriptor = {
        .Width = width, .Height = height, .Format = format, .NumChannels = channels};
    return array_bytes(&descriptor);
}

static uint64_t of_mipmap(size_t width, size_t height, size_t depth, unsigned flags,
                          unsigned levels)
{
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = width,
                                                .Height = height,
                                                .Depth = depth,
                                                .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                .NumChannels = 1,
                                                .Flags = flags};
    return array_mipmap_bytes(&descriptor, levels);
}

TEST(height_and_depth_of_0_count_as_1)
{
    assert_int_equal(of_array(100, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1), 100);
    assert_int_equal(of_array(100, 30, CU_AD_FORMAT_UNSIGNED_INT8, 1), 3000);
    assert_int_equal(of_mipmap(8, 0, 5, 0, 1), 40);
}

TEST(channels_multiply_the_plain_formats_and_not_those_that_name_them)
{
    assert_int_equal(of_array(10, 10, CU_AD_FORMAT_FLOAT, 4), 1600);
    assert_int_equal(of_array(10, 10, CU_AD_FORMAT_HALF, 2), 400);
    assert_int_equal(of_array(10, 10, (CUarray_format)0xc2, 4), 400);
}

TEST(a_block_compressed_array_takes_8_or_16_bytes_for_4_times_4_elements)
{
    enum { BC1 = 0x91, BC7 = 0x9d };
    assert_int_equal(of_array(64, 64, (CUarray_format)BC1, 4), 16 * 16 * 8);
    assert_int_equal(of_array(64, 64, (CUarray_format)BC7, 4), 16 * 16 * 16);
    assert_int_equal(of_array(3, 1, (CUarray_format)BC1, 4), 2); /* 12 bits, rounded up */
}

TEST(a_mipmap_halves_its_extents_down_to_1)
{
    assert_int_equal(of_mipmap(8, 4, 0, 0, 1), 32);
    assert_int_equal(of_mipmap(8, 4, 0, 0, 4), 32 + 8 + 2 + 1);
    assert_int_equal(of_mipmap(8, 4, 2, 0, 4), 64 + 8 + 2 + 1);
}

TEST(levels_beyond_the_last_are_not_made_and_0_means_1)
{
    assert_int_equal(of_mipmap(8, 4, 0, 0, 99), 32 + 8 + 2 + 1);
    assert_int_equal(of_mipmap(8, 4, 0, 0, 0), 32);
}

TEST(layers_are_not_halved)
{
    assert_int_equal(of_mipmap(4, 4, 6, CUDA_ARRAY3D_LAYERED, 2), 6 * 16 + 6 * 4);
}

TEST(sparse_and_deferred_arrays_come_without_memory)
{
    const unsigned sparse = 0x40, deferred = 0x80;
    assert_int_equal(of_mipmap(64, 64, 0, sparse, 3), 0);
    assert_int_equal(of_mipmap(64, 64, 0, deferred, 1), 0);
}

TEST(the_runtime_says_bits_of_channels_or_a_kind)
{
    const struct cudaExtent extent = {64, 64, 0};
    const struct cudaChannelFormatDesc float4 = {32, 32, 32, 32, cudaChannelFormatKindFloat};
    const struct cudaChannelFormatDesc bc1 = {8, 8, 8, 8, (enum cudaChannelFormatKind)17};
    assert_int_equal(array_runtime_bytes(&float4, extent, 0, 1), 64 * 64 * 16);
    assert_int_equal(array_runtime_bytes(&bc1, extent, 0, 1), 16 * 16 * 8);
}

TEST(more_than_fits_is_the_largest_number_and_nothing_is_0)
{
    assert_true(of_array(SIZE_MAX, SIZE_MAX, CU_AD_FORMAT_FLOAT, 4) == UINT64_MAX);
    assert_int_equal(array_bytes(NULL), 0);
    assert_int_equal(array_3d_bytes(NULL), 0);
    assert_int_equal(array_runtime_bytes(NULL, (struct cudaExtent){1, 1, 1}, 0, 1), 0);
}

UNIT_MAIN(NULL, NULL)
