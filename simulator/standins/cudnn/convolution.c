/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of cuDNN's older interface: one algorithm and its workspace (workspace.h).
 */
#include <string.h>

#include "simulator/standins/standin.h"
#include "status.h"
#include "workspace.h"

/* --- descriptors --- */

/* Value of cudnnMathType_t: without tensor cores. */
enum { FMA_MATH = 3 };

struct description {
    bool is_plain;
    int math_type;
};

STANDIN(int, cudnnCreateConvolutionDescriptor, (struct description * *created))
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}
STANDIN_DESTROY(cudnnDestroyConvolutionDescriptor)

STANDIN(int, cudnnSetConvolutionNdDescriptor,
        (struct description * description, int dimensions, const int *paddings, const int *strides,
         const int *dilations, int mode, int data_type))
{
    (void)mode, (void)data_type;
    if (!description || !paddings || !strides || !dilations)
        return CUDNN_BAD_PARAM;
    description->is_plain = true;
    for (int i = 0; i < dimensions; i++)
        if (paddings[i] || strides[i] != 1 || dilations[i] != 1)
            description->is_plain = false;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnSetConvolutionMathType, (struct description * description, int math_type))
{
    description->math_type = math_type;
    return CUDNN_SUCCESS;
}

/* --- algorithms --- */

/* Struct cudnnConvolution…AlgoPerf_t, which has the same layout for all three directions. */
struct performance {
    int algorithm, status;
    float milliseconds;
    size_t workspace_bytes;
    int determinism, math_type, reserved[3];
};

_Static_assert(sizeof(struct performance) == 48, "cudnnConvolutionFwdAlgoPerf_t");

/* Algorithm 1 is deterministic in each direction: implicit GEMM with precomputed indices forward,
 * algorithm 1 backward. */
enum { ALGORITHM = 1, DETERMINISTIC = 1 };

/* In the order of the functions' arguments. The third argument follows the convolution
 * descriptor. */
struct arguments {
    enum conv_direction direction;
    const struct cudnn_shape *first, *second, *third;
    const struct description *description;
};

static size_t workspace(const struct arguments *arguments)
{
    const bool is_forward = arguments->direction == CONV_FORWARD;
    const bool is_data = arguments->direction == CONV_DATA;
    const struct convolution convolution = {
        .direction = arguments->direction,
        .x = is_data ? *arguments->third : *arguments->first,
        .w = is_data      ? *arguments->first
             : is_forward ? *arguments->second
                          : *arguments->third,
        .y = is_forward ? *arguments->third : *arguments->second,
        .is_plain = arguments->description->is_plain,
    };
    return convolution_workspace(&convolution, arguments->description->math_type != FMA_MATH &&
                                                   convolution_uses_tensor_cores(&convolution));
}

static int answer_algorithm(const struct arguments *arguments, int wanted, int *count,
                            struct performance *results)
{
    if (wanted < 1 || !count || !results)
        return CUDNN_BAD_PARAM;
    memset(results, 0, sizeof *results);
    results->algorithm = ALGORITHM;
    results->workspace_bytes = workspace(arguments);
    results->determinism = DETERMINISTIC;
    results->math_type = arguments->description->math_type;
    *count = 1;
    return CUDNN_SUCCESS;
}

#define DIRECTION(name, direction)                                                                 \
    STANDIN(int, cudnnGetConvolution##name##Algorithm_v7,                                          \
            (void *handle, const struct cudnn_shape *first, const struct cudnn_shape *second,      \
             const struct description *description, const struct cudnn_shape *third, int wanted,   \
             int *count, struct performance *results))                                             \
    {                                                                                              \
        const struct arguments arguments = {direction, first, second, third, description};         \
        (void)handle;                                                                              \
        return answer_algorithm(&arguments, wanted, count, results);                               \
    }                                                                                              \
    STANDIN(int, cudnnFindConvolution##name##AlgorithmEx,                                          \
            (void *handle, const struct cudnn_shape *first, void *first_data,                      \
             const struct cudnn_shape *second, void *second_data,                                  \
             const struct description *description, const struct cudnn_shape *third,               \
             void *third_data, int wanted, int *count, struct performance *results, void *work,    \
             size_t work_bytes))                                                                   \
    {                                                                                              \
        const struct arguments arguments = {direction, first, second, third, description};         \
        (void)handle, (void)first_data, (void)second_data, (void)third_data;                       \
        (void)work, (void)work_bytes;                                                              \
        return answer_algorithm(&arguments, wanted, count, results);                               \
    }                                                                                              \
    STANDIN(int, cudnnGetConvolution##name##WorkspaceSize,                                         \
            (void *handle, const struct cudnn_shape *first, const struct cudnn_shape *second,      \
             const struct description *description, const struct cudnn_shape *third,               \
             int algorithm, size_t *bytes))                                                        \
    {                                                                                              \
        const struct arguments arguments = {direction, first, second, third, description};         \
        (void)handle;                                                                              \
        if (algorithm != ALGORITHM)                                                                \
            return CUDNN_NOT_SUPPORTED;                                                            \
        *bytes = workspace(&arguments);                                                            \
        return CUDNN_SUCCESS;                                                                      \
    }
DIRECTION(Forward, CONV_FORWARD)
DIRECTION(BackwardData, CONV_DATA)
DIRECTION(BackwardFilter, CONV_FILTER)
