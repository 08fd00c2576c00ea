/* SPDX-License-Identifier: MIT */
/*
 * Lists the tensors of weight files. The formats are safetensors, in one file or several, and GGUF.
 * Only the header before the tensors is read. The header is not trusted: sizes, offsets and names
 * are checked against each other and against the file.
 *
 *     safetensors   length of the header (8 bytes) | header: JSON | tensors, one after the other
 *     GGUF          "GGUF", version, counts | keys and values | tensors' infos | padding | tensors
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/estimate/layer/dtype.h"
#include "analyzer/estimate/layer/shape.h"
#include "gpumemtrace/err.h"

#define WEIGHTS_HEADER_MOST_BYTES 100000000 /* safetensors' own limit */
#define WEIGHTS_NAME_MOST_BYTES 4096

struct weight_type {
    const char *name;
    uint64_t values, bytes; /* of a block */
    enum dtype dtype;       /* DTYPE_COUNT: a model cannot run in it */
};

struct weight {
    char *name;
    const struct weight_type *type;
    struct shape shape; /* in PyTorch's order, in which the last dimension is contiguous */
    uint64_t elements, bytes;
    uint64_t begin; /* offset in its file, from the first tensor */
    size_t file;
};

struct weights {
    struct weight *items; /* sorted by name after weights_finish */
    size_t count, capacity, file_count;
    uint64_t elements, bytes;
    const char *format;
    char *architecture;  /* the name in a GGUF file; NULL: none */
    uint64_t part_count; /* number of parts by a GGUF file; 0: the file does not say */
};

/* Each function reads one file, or an index and the files that it names. Zeroed weights may be
 * released. */
int weights_read_safetensors(struct weights *weights, const char *path, struct err *err);
int weights_read_index(struct weights *weights, const char *path, struct err *err);
int weights_read_gguf(struct weights *weights, const char *path, struct err *err);
void weights_release(struct weights *weights);
/* Returns the tensor of that name; NULL: there is none. */
const struct weight *weights_find(const struct weights *weights, const char *name);

/* --- for readers --- */

/* Adds a tensor whose type and shape are set: counts its values and bytes. The name is copied. */
int weights_add(struct weights *weights, const char *name, struct weight weight, struct err *err);
/*
 * Checks that the tensors from `first` on lie in one file's data, one after the other, with holes
 * of less than `alignment` bytes.
 */
int weights_check_places(const struct weights *weights, size_t first, uint64_t data_bytes,
                         uint64_t alignment, struct err *err);
/* Called when all tensors are read. Sorts the tensors, refuses duplicate names, and sums sizes. */
int weights_finish(struct weights *weights, struct err *err);
/* Sets ERR_INPUT with the message after "tensor 'x': ". Returns -1. */
int weights_fail(const char *name, struct err *err, const char *format, ...) GMT_PRINTF(3, 4);
