/* SPDX-License-Identifier: MIT */
/* GGUF, versions 2 and 3; see weights.h. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "weights.h"
#include "weights_file.h"

static const struct {
    uint64_t number;
    struct weight_type type;
} types[] = {
#define GGUF_TYPE(number, name, values, bytes, dtype)                                              \
    {number, {name, values, bytes, DTYPE_##dtype}},
#include "gguf_types.def"
};

/* GGUF's numbers of value types, and the bytes of each type. */
enum { VALUE_BOOL = 7, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_TYPES = 13 };
static const size_t value_bytes[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

enum {
    ALIGNMENT_STANDARD = 32,
    KEY_LEAST_BYTES = 13,    /* length, one character, type, value of one byte */
    TENSOR_LEAST_BYTES = 25, /* length, one character, rank, type, offset */
    RANK_MOST = 4
};

struct gguf {
    struct weights *weights;
    struct weights_file file;
    uint64_t size_bytes, cut_bytes; /* of the file; of its end, which the header may not reach */
    uint64_t alignment;
    struct err *err;
};

static int take(struct gguf *gguf, size_t bytes, uint64_t *integer)
{
    return weights_file_integer(&gguf->file, bytes, integer, gguf->err);
}

/* Sets *text to a copy of a string of at most `most` bytes. A longer string is skipped, and *text
 * is NULL. */
static int take_string(struct gguf *gguf, uint64_t most, char **text)
{
    uint64_t length;
    *text = NULL;
    if (take(gguf, sizeof length, &length))
        return -1;
    if (length > most || length > gguf->file.left_bytes)
        return weights_file_skip(&gguf->file, length, gguf->err);
    if (!(*text = malloc((size_t)length + 1)))
        return err_set(gguf->err, ERR_SYSTEM, "out of memory for a text of the file");
    (*text)[length] = 0;
    if (!weights_file_bytes(&gguf->file, *text, (size_t)length, gguf->err))
        return 0;
    free(*text);
    *text = NULL;
    return -1;
}

/*
 * Takes a name. A name with a zero byte is refused, because as a C string it could be equal to
 * another name.
 */
static int take_name(struct gguf *gguf, const char *what, char **name)
{
    const uint64_t before = gguf->file.left_bytes;
    if (take_string(gguf, WEIGHTS_NAME_MOST_BYTES, name))
        return -1;
    const uint64_t length = before - gguf->file.left_bytes - sizeof(uint64_t);
    if (*name && **name && strlen(*name) == length)
        return 0;
    free(*name);
    *name = NULL;
    return err_set(gguf->err, ERR_INPUT,
                   "a %s has %" PRIu64 " bytes or a NUL in it; 1 to %d are allowed", what, length,
                   WEIGHTS_NAME_MOST_BYTES);
}

/* --- keys and values --- */

static int fail_key(struct gguf *gguf, const char *key, const char *message)
{
    char shown[JSON_SHOWN_BYTES];
    return err_set(gguf->err, ERR_INPUT, "key %s: %s", json_shown_text(key, shown), message);
}

static int skip_array(struct gguf *gguf, const char *key)
{
    uint64_t type, count, length;
    if (take(gguf, 4, &type) || take(gguf, sizeof count, &count))
        return -1;
    if (type >= VALUE_TYPES || type == VALUE_ARRAY)
        return fail_key(gguf, key, "its list has values of an unknown type");
    const uint64_t least = type == VALUE_STRING ? sizeof length : value_bytes[type];
    if (count > gguf->file.left_bytes / least)
        return fail_key(gguf, key, "its list is longer than the file");
    if (type != VALUE_STRING)
        return weights_file_skip(&gguf->file, count * least, gguf->err);
    for (uint64_t i = 0; i < count; i++)
        if (take(gguf, sizeof length, &length) || weights_file_skip(&gguf->file, length, gguf->err))
            return -1;
    return 0;
}

static int take_alignment(struct gguf *gguf, const char *key, uint64_t type, uint64_t value)
{
    if (type != 4 || value == 0 || value > 1 << 20 || (value & (value - 1)))
        return fail_key(gguf, key, "it has to be a power of two, at most 2^20, of 32 bits");
    gguf->alignment = value;
    return 0;
}

static int take_text(struct gguf *gguf, const char *key)
{
    char *text, **kept = &gguf->weights->architecture;
    const bool is_architecture = strcmp(key, "general.architecture") == 0;
    if (take_string(gguf, is_architecture ? WEIGHTS_NAME_MOST_BYTES : 0, &text))
        return -1;
    if (!is_architecture || *kept)
        free(text);
    else
        *kept = text;
    return 0;
}

static int take_value(struct gguf *gguf, const char *key)
{
    uint64_t type, value;
    if (take(gguf, 4, &type))
        return -1;
    if (type >= VALUE_TYPES)
        return fail_key(gguf, key, "its value has an unknown type");
    if (type == VALUE_STRING)
        return take_text(gguf, key);
    if (type == VALUE_ARRAY)
        return skip_array(gguf, key);
    if (take(gguf, value_bytes[type], &value))
        return -1;
    if (type == VALUE_BOOL && value > 1)
        return fail_key(gguf, key, "it is neither true nor false");
    if (strcmp(key, "split.count") == 0 && type < 6)
        gguf->weights->part_count = value;
    return strcmp(key, "general.alignment") == 0 ? take_alignment(gguf, key, type, value) : 0;
}

static int take_keys(struct gguf *gguf, uint64_t count)
{
    json_t *seen = json_object();
    int result = 0;
    for (uint64_t i = 0; i < count && !result; i++) {
        char *key;
        result = take_name(gguf, "key", &key);
        if (!result && json_object_get(seen, key))
            result = fail_key(gguf, key, "it comes twice");
        else if (!result && json_object_set_new(seen, key, json_true()))
            result = fail_key(gguf, key, "it is not a text, or there is no memory for it");
        if (!result)
            result = take_value(gguf, key);
        free(key);
    }
    json_decref(seen);
    return result;
}

/* --- tensors --- */

static int take_type(struct gguf *gguf, const char *name, struct weight *weight)
{
    uint64_t number;
    if (take(gguf, 4, &number))
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].number == number) {
            weight->type = &types[i].type;
            return 0;
        }
    }
    return weights_fail(name, gguf->err,
                        "its type %" PRIu64 " is not a type of GGUF, or one that GGUF gave up",
                        number);
}

/* Takes a shape. The contiguous dimension is the first one in GGUF, and the last one in PyTorch. */
static int take_shape(struct gguf *gguf, const char *name, struct weight *weight)
{
    uint64_t rank;
    if (take(gguf, 4, &rank))
        return -1;
    if (rank > RANK_MOST)
        return weights_fail(name, gguf->err,
                            "it has %" PRIu64 " dimensions, at most %d are allowed", rank,
                            RANK_MOST);
    weight->shape.rank = (unsigned)rank;
    for (uint64_t i = rank; i > 0; i--)
        if (take(gguf, 8, &weight->shape.dims[i - 1]))
            return -1;
    return 0;
}

static int take_tensor(struct gguf *gguf)
{
    struct weight weight = {0};
    char *name;
    int result = -1;
    if (take_name(gguf, "tensor's name", &name))
        return -1;
    if (take_shape(gguf, name, &weight) || take_type(gguf, name, &weight) ||
        take(gguf, 8, &weight.begin))
        goto out;
    if (weight.begin % gguf->alignment)
        weights_fail(name, gguf->err,
                     "it begins at byte %" PRIu64 ", which is not aligned to %" PRIu64,
                     weight.begin, gguf->alignment);
    else
        result = weights_add(gguf->weights, name, weight, gguf->err);
out:
    free(name);
    return result;
}

/* --- the file --- */

static int take_version(struct gguf *gguf)
{
    unsigned char magic[4];
    uint64_t version;
    if (weights_file_bytes(&gguf->file, magic, sizeof magic, gguf->err))
        return -1;
    if (memcmp(magic, "GGUF", sizeof magic) != 0)
        return err_set(gguf->err, ERR_INPUT, "not a GGUF file: it does not begin with that word");
    if (take(gguf, 4, &version))
        return -1;
    if (version == 2 || version == 3)
        return 0;
    return err_set(gguf->err, ERR_INPUT, "its version is %" PRIu64 "%s; 2 and 3 are read here",
                   version, version > UINT16_MAX ? ", as on machines of the other byte order" : "");
}

static int take_counts(struct gguf *gguf, uint64_t *tensors, uint64_t *keys)
{
    if (take(gguf, 8, tensors) || take(gguf, 8, keys))
        return -1;
    if (*keys <= gguf->file.left_bytes / KEY_LEAST_BYTES &&
        *tensors <= gguf->file.left_bytes / TENSOR_LEAST_BYTES)
        return 0;
    return err_set(gguf->err, ERR_INPUT,
                   "truncated: %" PRIu64 " keys and %" PRIu64
                   " tensors do not fit in what the file has",
                   *keys, *tensors);
}

static uint64_t data_bytes(const struct gguf *gguf)
{
    const uint64_t left = gguf->file.left_bytes + gguf->cut_bytes;
    const uint64_t over = (gguf->size_bytes - left) % gguf->alignment;
    const uint64_t padding = over ? gguf->alignment - over : 0;
    return left > padding ? left - padding : 0;
}

static int read_all(struct gguf *gguf)
{
    uint64_t tensors, keys;
    gguf->size_bytes = gguf->file.left_bytes;
    if (gguf->file.left_bytes > WEIGHTS_HEADER_MOST_BYTES)
        gguf->file.left_bytes = WEIGHTS_HEADER_MOST_BYTES;
    gguf->cut_bytes = gguf->size_bytes - gguf->file.left_bytes;
    if (take_version(gguf) || take_counts(gguf, &tensors, &keys) || take_keys(gguf, keys))
        return -1;
    for (uint64_t i = 0; i < tensors; i++)
        if (take_tensor(gguf))
            return -1;
    gguf->weights->file_count++;
    return weights_check_places(gguf->weights, 0, data_bytes(gguf), gguf->alignment, gguf->err) ||
                   weights_finish(gguf->weights, gguf->err)
               ? -1
               : 0;
}

int weights_read_gguf(struct weights *weights, const char *path, struct err *err)
{
    struct err inner = {0};
    struct gguf gguf = {.weights = weights, .alignment = ALIGNMENT_STANDARD, .err = &inner};
    weights->format = "GGUF";
    int result = weights_file_open(&gguf.file, path, &inner);
    result = result || read_all(&gguf);
    weights_file_close(&gguf.file);
    if (result)
        err_set(err, inner.code, "%s: %s", path, inner.message);
    return result ? -1 : 0;
}
