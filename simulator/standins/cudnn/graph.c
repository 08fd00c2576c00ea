/* SPDX-License-Identifier: MIT */
/*
 * Engines, heuristics and plans. See graph.h. A convolution has two engines: one uses tensor cores
 * and the assumed workspace, the other uses neither. Any other graph has only the engine that uses
 * neither. A caller that forbids tensor cores (TF32) rejects the first engine by its note.
 *
 *   graph → heuristics → engine configuration → plan
 */
#include "graph.h"

#include "status.h"
#include "workspace.h"

/* Values of cudnnBackendAttributeName_t. */
enum name {
    CONVOLUTION_DILATIONS = 102,
    CONVOLUTION_STRIDES = 103,
    CONVOLUTION_PADDINGS = 105,
    HEURISTICS_GRAPH = 201,
    HEURISTICS_RESULTS = 202,
    CONFIG_ENGINE = 300,
    CONFIG_INTERMEDIATES = 301,
    CONFIG_KNOBS = 302,
    CONFIG_WORKSPACE = 303,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    PLAN_COMPUTED_UIDS = 403,
    PLAN_ONLY_UIDS = 404,
    GRAPH_OPERATIONS = 801,
    GRAPH_ENGINES = 802,
    TENSOR_TYPE = 901,
    TENSOR_DIMENSIONS = 902,
    TENSOR_STRIDES = 903,
    ENGINE_GRAPH = 1300,
    ENGINE_INDEX = 1301,
    ENGINE_KNOBS = 1302,
    ENGINE_NUMERICAL_NOTES = 1303,
    ENGINE_LAYOUTS = 1304,
    ENGINE_BEHAVIOUR_NOTES = 1305,
};

bool graph_attribute_is_empty(int name)
{
    return name == CONFIG_INTERMEDIATES || name == CONFIG_KNOBS || name == PLAN_COMPUTED_UIDS ||
           name == PLAN_ONLY_UIDS || (name >= ENGINE_KNOBS && name <= ENGINE_BEHAVIOUR_NOTES);
}

/* --- convolutions --- */

/* The attributes of a convolution, by the type of its operation. */
static const struct convolution_names {
    int description, x, w, y;
} convolution_names[] = {
    [CONV_FORWARD] = {702, 704, 703, 705},
    [CONV_DATA] = {708, 710, 709, 711},
    [CONV_FILTER] = {714, 716, 715, 717},
};

/* The direction of an operation; -1: the operation is not a convolution. */
static int direction_of(const struct contents *operation)
{
    switch (contents_type(operation)) {
    case BACKEND_CONVOLUTION_FORWARD:
        return CONV_FORWARD;
    case BACKEND_CONVOLUTION_BACKWARD_FILTER:
        return CONV_FILTER;
    case BACKEND_CONVOLUTION_BACKWARD_DATA:
        return CONV_DATA;
    default:
        return -1;
    }
}

static struct cudnn_shape shape_of(const struct contents *operation, int name)
{
    const struct contents *tensor = contents_descriptor(operation, name, 0);
    struct cudnn_shape shape = {.count = 0};
    int64_t number;
    if (!tensor)
        return shape;
    shape.data_type = (int)contents_number(tensor, TENSOR_TYPE, 0, 0);
    while (shape.count < CUDNN_DIMENSIONS_MAX &&
           (number = contents_number(tensor, TENSOR_DIMENSIONS, shape.count, -1)) >= 0) {
        shape.dimensions[shape.count] = (int)number;
        shape.strides[shape.count] = (int)contents_number(tensor, TENSOR_STRIDES, shape.count, 0);
        shape.count++;
    }
    return shape;
}

static bool is_plain(const struct contents *description)
{
    bool is_plain = true;
    for (int64_t i = 0; description && i < CUDNN_DIMENSIONS_MAX; i++)
        is_plain = is_plain && contents_number(description, CONVOLUTION_DILATIONS, i, 1) == 1 &&
                   contents_number(description, CONVOLUTION_STRIDES, i, 1) == 1 &&
                   contents_number(description, CONVOLUTION_PADDINGS, i, 0) == 0;
    return is_plain;
}

/* Fills *convolution from the graph's first convolution; false: the graph has none. */
static bool find_convolution(const struct contents *graph, struct convolution *convolution)
{
    const struct contents *operation;
    int direction = -1;
    for (int64_t i = 0; direction < 0; i++) {
        if (!(operation = contents_descriptor(graph, GRAPH_OPERATIONS, i)))
            return false;
        direction = direction_of(operation);
    }
    const struct convolution_names *names = &convolution_names[direction];
    *convolution = (struct convolution){
        .direction = (enum conv_direction)direction,
        .x = shape_of(operation, names->x),
        .w = shape_of(operation, names->w),
        .y = shape_of(operation, names->y),
        .is_plain = is_plain(contents_descriptor(operation, names->description, 0)),
    };
    return true;
}

/* --- engines --- */

enum engine { PLAIN_ENGINE, TENSOR_CORE_ENGINE, ENGINES };

static int set_number(struct contents *contents, int name, int64_t number)
{
    return contents_set(contents, name, BACKEND_INT64, 1, &number) ? CUDNN_HOST_ALLOCATION_FAILED
                                                                   : CUDNN_SUCCESS;
}

static bool has_engine(const struct contents *graph, enum engine engine)
{
    struct convolution convolution;
    return engine == PLAIN_ENGINE ||
           (find_convolution(graph, &convolution) && convolution_uses_tensor_cores(&convolution));
}

static int64_t engine_workspace(const struct contents *engine)
{
    const struct contents *graph = contents_descriptor(engine, ENGINE_GRAPH, 0);
    struct convolution convolution;
    if (!graph || !find_convolution(graph, &convolution))
        return 0;
    return (int64_t)convolution_workspace(
        &convolution, contents_number(engine, ENGINE_INDEX, 0, 0) == TENSOR_CORE_ENGINE);
}

static int complete_engine(struct contents *engine)
{
    const struct contents *graph = contents_descriptor(engine, ENGINE_GRAPH, 0);
    const int64_t index = contents_number(engine, ENGINE_INDEX, 0, -1);
    const int32_t tensor_cores = 0; /* cudnnBackendNumericalNote_t */
    if (!graph || index < 0 || index >= ENGINES)
        return CUDNN_BAD_PARAM;
    if (!has_engine(graph, (enum engine)index))
        return CUDNN_NOT_SUPPORTED;
    if (index == TENSOR_CORE_ENGINE &&
        contents_set(engine, ENGINE_NUMERICAL_NOTES, BACKEND_NUMERICAL_NOTE, 1, &tensor_cores))
        return CUDNN_HOST_ALLOCATION_FAILED;
    return CUDNN_SUCCESS;
}

static int complete_config(struct contents *config)
{
    const struct contents *engine = contents_descriptor(config, CONFIG_ENGINE, 0);
    return engine ? set_number(config, CONFIG_WORKSPACE, engine_workspace(engine))
                  : CUDNN_BAD_PARAM;
}

static int complete_plan(struct contents *plan)
{
    const struct contents *config = contents_descriptor(plan, PLAN_CONFIG, 0);
    return config
               ? set_number(plan, PLAN_WORKSPACE, contents_number(config, CONFIG_WORKSPACE, 0, 0))
               : CUDNN_BAD_PARAM;
}

/* Creates the configuration of one engine; NULL: out of memory. */
static struct contents *new_config(struct contents *graph, enum engine index)
{
    struct contents *engine = contents_new_final(BACKEND_ENGINE);
    struct contents *config = contents_new_final(BACKEND_ENGINE_CONFIG);
    const bool is_made = engine && config &&
                         !contents_set(engine, ENGINE_GRAPH, BACKEND_DESCRIPTOR, 1, &graph) &&
                         !set_number(engine, ENGINE_INDEX, index) && !complete_engine(engine) &&
                         !contents_set(config, CONFIG_ENGINE, BACKEND_DESCRIPTOR, 1, &engine) &&
                         !complete_config(config);
    contents_release(engine);
    if (is_made)
        return config;
    contents_release(config);
    return NULL;
}

static int complete_heuristics(struct contents *heuristics)
{
    struct contents *graph = contents_descriptor(heuristics, HEURISTICS_GRAPH, 0);
    struct contents *configs[ENGINES];
    int status = graph ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
    int64_t count = 0;
    for (int index = ENGINES - 1; !status && index >= 0; index--) {
        if (!has_engine(graph, (enum engine)index))
            continue;
        if ((configs[count] = new_config(graph, (enum engine)index)))
            count++;
        else
            status = CUDNN_HOST_ALLOCATION_FAILED;
    }
    if (!status && contents_set(heuristics, HEURISTICS_RESULTS, BACKEND_DESCRIPTOR, count, configs))
        status = CUDNN_HOST_ALLOCATION_FAILED;
    while (count)
        contents_release(configs[--count]);
    return status;
}

int graph_complete(struct contents *contents)
{
    switch (contents_type(contents)) {
    case BACKEND_GRAPH:
        return set_number(contents, GRAPH_ENGINES, ENGINES);
    case BACKEND_ENGINE:
        return complete_engine(contents);
    case BACKEND_ENGINE_CONFIG:
        return complete_config(contents);
    case BACKEND_HEURISTICS:
        return complete_heuristics(contents);
    case BACKEND_PLAN:
        return complete_plan(contents);
    default:
        return CUDNN_SUCCESS;
    }
}
