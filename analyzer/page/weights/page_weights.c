/* SPDX-License-Identifier: MIT */
/* The part of a page about weights in files; see page_weights.h. */
#include "page_weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/page/verdict/verdict.h"
#include "analyzer/render/units.h"

enum { SUMMARY_DIFFERENCES = 12 };

/* --- types and sizes --- */

struct type_sum {
    const struct weight_type *type;
    uint64_t count, elements, bytes;
};

/* Adds one row for each type, because there are few types. */
static void add_types(struct doc *doc, const struct weights *weights)
{
    enum { TYPES_MOST = 64 };
    struct type_sum sums[TYPES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < weights->count; i++) {
        const struct weight *weight = &weights->items[i];
        size_t at = 0;
        while (at < count && sums[at].type != weight->type)
            at++;
        if (at == count && count < TYPES_MOST)
            sums[count++] = (struct type_sum){.type = weight->type};
        sums[at].count++;
        sums[at].elements += weight->elements;
        sums[at].bytes += weight->bytes;
    }
    doc_list_begin(doc, "types", "By element type");
    for (size_t i = 0; i < count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "type", "Type", sums[i].type->name);
        doc_count(doc, "tensors", "Tensors", sums[i].count);
        doc_count(doc, "parameters", "Parameters", sums[i].elements);
        doc_bytes(doc, "bytes", "Bytes", sums[i].bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_weights(struct doc *doc, const struct weights *weights)
{
    doc_object_begin(doc, "weights", "In the files");
    doc_text(doc, "format", "Format", weights->format);
    doc_text(doc_detail_if(doc, !weights->architecture), "architecture", "Architecture",
             weights->architecture);
    doc_count(doc_detail_if(doc, weights->file_count < 2), "files", "Files", weights->file_count);
    doc_count(doc, "tensors", "Tensors", weights->count);
    doc_count(doc, "parameters", "Parameters", weights->elements);
    doc_bytes(doc, "bytes", "Bytes", weights->bytes);
    add_types(doc, weights);
    doc_object_end(doc);
}

/* --- compared with a description --- */

static void add_differences(struct doc *doc, const struct stored *stored)
{
    doc_list_begin(doc, "differences", "The description beside the files");
    for (size_t i = 0; i < stored->difference_count; i++) {
        const struct stored_difference *one = &stored->differences[i];
        doc_row_begin(doc_detail_if(doc, i >= SUMMARY_DIFFERENCES));
        doc_text(doc, "tensor", "Tensor", one->name);
        doc_text(doc, "described", "Described", *one->described ? one->described : NULL);
        doc_text(doc, "found", "In the files", *one->found ? one->found : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    if (stored->difference_count > SUMMARY_DIFFERENCES)
        doc_note(doc, "There are %zu differences; --json has them all.", stored->difference_count);
    if (stored->other_bytes > 0) {
        doc_note(doc,
                 "Tensors that only the files have (%s) are not counted, because PyTorch does not "
                 "load them.",
                 BYTES_TEXT(stored->other_bytes));
    }
}

void page_estimate_weights(struct doc *doc, const struct weights *weights,
                           const struct stored *stored)
{
    add_weights(doc, weights);
    add_differences(doc, stored);
}

/* --- without a description --- */

void page_footprint(struct doc *doc, const struct footprint *footprint)
{
    doc_bytes(doc, "requested_bytes", "Requested", footprint->requested_bytes);
    doc_bytes(doc, "allocated_bytes", "Allocated (rounded by the caching allocator)",
              footprint->allocated_bytes);
    doc_bytes(doc, "reserved_bytes", "Reserved (its segments)", footprint->reserved_bytes);
}

static void add_load(struct doc *doc, const struct footprint *load)
{
    doc_object_begin(doc, "load", "With all of them on the device, as PyTorch counts");
    page_footprint(doc, load);
    doc_object_end(doc);
}

static void add_tensors(struct doc *doc, const struct weights *weights)
{
    char shape[SHAPE_TEXT_BYTES];
    doc_list_begin(doc, "tensors", "Tensors");
    for (size_t i = 0; i < weights->count; i++) {
        const struct weight *weight = &weights->items[i];
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", weight->name);
        doc_text(doc, "type", "Type", weight->type->name);
        doc_text(doc, "shape", "Shape",
                 weight->shape.rank ? shape_text(&weight->shape, shape) : NULL);
        doc_count(doc, "elements", "Elements", weight->elements);
        doc_bytes(doc, "bytes", "Bytes", weight->bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_advice(struct doc *doc, const struct model_source *source)
{
    const struct weights *weights = &source->weights;
    const bool is_gguf = strcmp(weights->format, "GGUF") == 0;
    doc_list_begin(doc, "assumptions", "Assumed");
    if (source->why_no_model)
        doc_textf(doc, "assumption", "", "The config.json beside them is not used: %s.",
                  source->why_no_model);
    if (weights->part_count > 1)
        doc_textf(doc, "assumption", "",
                  "The file is one of %" PRIu64 " parts: the others are not counted.",
                  weights->part_count);
    if (is_gguf)
        doc_text(doc, "assumption", "",
                 "Tensors lie on the device as they do in the file; a runtime such as llama.cpp "
                 "puts them in one buffer, and may leave some on the host.");
    doc_textf(doc, "assumption", "",
              "These are weights only: no results, gradients or keys and values. For the whole "
              "estimate %s.",
              is_gguf ? "name the config.json of the model that it was made from"
                      : "put the model's config.json of Hugging Face beside them");
    doc_list_end(doc);
}

struct doc *page_weights(enum doc_level reads, const struct model_source *source,
                         const struct footprint *load, bool tensors)
{
    const struct weights *weights = &source->weights;
    struct doc *doc = doc_new("gpumemtrace.weights/1", reads);
    struct verdict said = {0};
    if (!doc)
        return NULL;
    verdict_say(&said, VERDICT_what, "%s: %" PRIu64 " parameters in %zu tensors take %s.",
                source->name, weights->elements, weights->count, BYTES_TEXT(weights->bytes));
    verdict_finish(doc, &said);
    add_weights(doc, weights);
    add_load(doc, load);
    if (tensors)
        add_tensors(doc, weights);
    add_advice(doc, source);
    return doc;
}
