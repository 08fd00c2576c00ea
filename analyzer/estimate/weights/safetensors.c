/* SPDX-License-Identifier: MIT */
/* safetensors and its index; see weights.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/json_read.h"
#include "weights.h"
#include "weights_file.h"

static const struct weight_type types[] = {
#define SAFETENSORS_TYPE(name, values, bytes, dtype) {name, values, bytes, DTYPE_##dtype},
#include "safetensors_types.def"
};

enum { LENGTH_BYTES = 8 };

/* --- one tensor --- */

static int take_type(struct weight *weight, const char *name, const json_t *json, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    const char *text = json_string_value(json);
    for (size_t i = 0; text && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, text) == 0) {
            weight->type = &types[i];
            return 0;
        }
    }
    return weights_fail(name, err, "field 'dtype': %s is not a type of safetensors",
                        json ? json_shown(json, shown) : "nothing");
}

static int take_size(const char *name, const char *field, const json_t *json, uint64_t *size,
                     struct err *err)
{
    struct err inner = {0};
    if (!json_take_integer(json, 0, INT64_MAX, size, &inner))
        return 0;
    return weights_fail(name, err, "field '%s' %s", field, inner.message);
}

static int take_shape(struct weight *weight, const char *name, const json_t *json, struct err *err)
{
    if (!json_is_array(json) || json_array_size(json) > SHAPE_RANK_MAX)
        return weights_fail(name, err, "field 'shape' must be a list of at most %d sizes",
                            SHAPE_RANK_MAX);
    weight->shape.rank = (unsigned)json_array_size(json);
    for (unsigned i = 0; i < weight->shape.rank; i++)
        if (take_size(name, "shape", json_array_get(json, i), &weight->shape.dims[i], err))
            return -1;
    return 0;
}

static int take_tensor(struct weights *weights, const char *name, const json_t *json,
                       struct err *err)
{
    const json_t *offsets = json_object_get(json, "data_offsets");
    struct weight weight = {0};
    uint64_t end;
    if (!json_is_object(json))
        return weights_fail(name, err, "must be an object with dtype, shape and data_offsets");
    if (take_type(&weight, name, json_object_get(json, "dtype"), err) ||
        take_shape(&weight, name, json_object_get(json, "shape"), err))
        return -1;
    if (json_array_size(offsets) != 2)
        return weights_fail(name, err, "field 'data_offsets' must be a list of two offsets");
    if (take_size(name, "data_offsets", json_array_get(offsets, 0), &weight.begin, err) ||
        take_size(name, "data_offsets", json_array_get(offsets, 1), &end, err) ||
        weights_add(weights, name, weight, err))
        return -1;
    const uint64_t bytes = weights->items[weights->count - 1].bytes;
    if (end >= weight.begin && end - weight.begin == bytes)
        return 0;
    return weights_fail(name, err,
                        "its shape and type make %" PRIu64 " bytes, its data_offsets are %" PRIu64
                        " and %" PRIu64,
                        bytes, weight.begin, end);
}

/* --- one file --- */

static json_t *read_header(struct weights_file *file, struct err *err)
{
    json_error_t problem;
    uint64_t length;
    if (weights_file_integer(file, LENGTH_BYTES, &length, err))
        return NULL;
    if (length > WEIGHTS_HEADER_MOST_BYTES) {
        err_set(err, ERR_INPUT,
                "not a safetensors file: it says that its header has %" PRIu64
                " bytes, at most %d are allowed",
                length, WEIGHTS_HEADER_MOST_BYTES);
        return NULL;
    }
    if (length > file->left_bytes) {
        err_set(err, ERR_INPUT,
                "truncated: its header has %" PRIu64 " bytes, the file %" PRIu64 " more", length,
                file->left_bytes);
        return NULL;
    }
    uint64_t rest = file->left_bytes - length;
    file->left_bytes = length;
    json_t *header = json_read_callback(weights_file_some, file, &problem);
    file->left_bytes = rest;
    if (header && json_is_object(header))
        return header;
    err_set(err, ERR_INPUT, "its header is not a JSON object%s%s", header ? "" : ": ",
            header ? "" : problem.text);
    json_decref(header);
    return NULL;
}

static int read_file(struct weights *weights, const char *path, struct err *err)
{
    const size_t first = weights->count;
    struct weights_file file;
    json_t *header = NULL, *value;
    const char *name;
    int result = -1;
    if (weights_file_open(&file, path, err))
        return -1;
    if (!(header = read_header(&file, err)))
        goto out;
    json_object_foreach(header, name, value)
    {
        if (strcmp(name, "__metadata__") != 0 && take_tensor(weights, name, value, err))
            goto out;
    }
    if (weights_check_places(weights, first, file.left_bytes, 1, err))
        goto out;
    weights->file_count++;
    result = 0;
out:
    json_decref(header);
    weights_file_close(&file);
    return result;
}

/* Does the same as read_file, but messages begin with the path. */
static int read_named(struct weights *weights, const char *path, struct err *err)
{
    struct err inner = {0};
    weights->format = "safetensors";
    if (!read_file(weights, path, &inner))
        return 0;
    return err_set(err, inner.code, "%s: %s", path, inner.message);
}

int weights_read_safetensors(struct weights *weights, const char *path, struct err *err)
{
    struct err inner = {0};
    if (read_named(weights, path, err))
        return -1;
    if (!weights_finish(weights, &inner))
        return 0;
    return err_set(err, inner.code, "%s: %s", path, inner.message);
}

/* --- an index --- */

/* Returns the path of a part. The part must be in the folder of the index. */
static char *part_path(const char *index, const char *name, struct err *err)
{
    const char *slash = strrchr(index, '/');
    const int folder = slash ? (int)(slash - index + 1) : 0;
    char shown[JSON_SHOWN_BYTES], *path = NULL;
    if (!*name || strchr(name, '/')) {
        err_set(err, ERR_INPUT, "%s: field 'weight_map': %s is not a file of the same folder",
                index, json_shown_text(name, shown));
        return NULL;
    }
    if (asprintf(&path, "%.*s%s", folder, index, name) >= 0)
        return path;
    err_set(err, ERR_SYSTEM, "out of memory for the path of a part");
    return NULL;
}

static int read_part(struct weights *weights, json_t *parts, const char *index, const json_t *name,
                     struct err *err)
{
    const char *text = json_string_value(name);
    char *path;
    if (!text)
        return err_set(err, ERR_INPUT,
                       "%s: field 'weight_map' must give each tensor the name of a file", index);
    if (json_object_get(parts, text))
        return 0;
    if (!(path = part_path(index, text, err)))
        return -1;
    int result = read_named(weights, path, err);
    free(path);
    if (result || !json_object_set_new(parts, text, json_integer((json_int_t)weights->file_count)))
        return result;
    return err_set(err, ERR_SYSTEM, "out of memory for the parts");
}

/* Checks that each tensor of the map is in the file that the map names. */
static int check_map(const struct weights *weights, const json_t *map, const json_t *parts,
                     struct err *err)
{
    const char *name;
    json_t *part;
    json_object_foreach((json_t *)(uintptr_t)map, name, part)
    {
        const struct weight *weight = weights_find(weights, name);
        const json_int_t number =
            json_integer_value(json_object_get(parts, json_string_value(part)));
        if (!weight || weight->file + 1 != (size_t)number)
            return weights_fail(name, err, "it is not in the file that 'weight_map' names for it");
    }
    return 0;
}

int weights_read_index(struct weights *weights, const char *path, struct err *err)
{
    json_error_t problem;
    json_t *root = json_read_file(path, &problem), *parts = json_object(), *part;
    json_t *map = json_object_get(root, "weight_map");
    struct err inner = {0};
    const char *name;
    int result = -1;
    if (!root || !json_object_size(map)) {
        err_set(err, ERR_INPUT, "%s: %s", path,
                root ? "an index of safetensors has its tensors in 'weight_map'" : problem.text);
        goto out;
    }
    json_object_foreach(map, name, part)
    {
        if (read_part(weights, parts, path, part, err))
            goto out;
    }
    if (weights_finish(weights, &inner) || check_map(weights, map, parts, &inner))
        err_set(err, inner.code, "%s: %s", path, inner.message);
    else
        result = 0;
out:
    json_decref(root);
    json_decref(parts);
    return result;
}
