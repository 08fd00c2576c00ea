/* SPDX-License-Identifier: MIT */
/*
 * The tensors of files of weights: safetensors, whole or in parts, and GGUF. Only what stands before the tensors is read, and
 * nothing in it is believed: sizes, offsets and names are checked against each other and the file. It must not know models.
 *
 *     safetensors   length of the header (8 bytes) | header: JSON | tensors, one after the other
 *     GGUF          "GGUF", version, counts | keys and values | tensors' infos | padding | tensors, aligned
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_WEIGHTS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/estimate/layer/dtype.h"
#include "analyzer/estimate/layer/shape.h"
#include "gpumemtrace/err.h"

#define WEIGHTS_HEADER_MOST_BYTES 100000000 /* as safetensors has it */
#define WEIGHTS_NAME_MOST_BYTES 4096

struct weight_type {
    const char *name;
    uint64_t values, bytes; /* of a block */
    enum dtype dtype;       /* DTYPE_COUNT: a model cannot be run in it */
};

struct weight {
    char *name;
    const struct weight_type *type;
    struct shape shape; /* as PyTorch has it: the last dimension lies together */
    uint64_t elements, bytes;
    uint64_t begin; /* in its file, from the first tensor */
    size_t file;
};

struct weights {
    struct weight *items; /* once read, in the order of their names */
    size_t count, capacity, file_count;
    uint64_t elements, bytes;
    const char *format;
    char *architecture;  /* that a GGUF names; NULL: none */
    uint64_t part_count; /* that a GGUF says it is one of; 0: it says nothing */
};

/* Each reads one file, or an index and the files that it names. Zeroed, weights may be released. */
int weights_read_safetensors(struct weights *weights, const char *path, struct err *err);
int weights_read_index(struct weights *weights, const char *path, struct err *err);
int weights_read_gguf(struct weights *weights, const char *path, struct err *err);
void weights_release(struct weights *weights);
/* NULL: none of that name. */
const struct weight *weights_find(const struct weights *weights, const char *name);

/* --- for readers --- */

/* Takes a tensor whose type and shape are set: counts its values and bytes. The name is copied. */
int weights_add(struct weights *weights, const char *name, struct weight weight, struct err *err);
/* The tensors from first on lie in one file's data, one after the other, where holes below `alignment` may be between them. */
int weights_check_places(const struct weights *weights, size_t first, uint64_t data_bytes,
                         uint64_t alignment, struct err *err);
/* All are read: sorts them, refuses names that come twice, sums them. */
int weights_finish(struct weights *weights, struct err *err);
/* ERR_INPUT: "tensor 'x': " and the message. Returns -1. */
int weights_fail(const char *name, struct err *err, const char *format, ...) GMT_PRINTF(3, 4);

#endif
