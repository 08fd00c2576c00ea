/* SPDX-License-Identifier: MIT */
/*
 * Messages in the encoding of Protocol Buffers, as far as a writer needs it: numbers, and what has a
 * length. A generated encoder would need the schema's file in the tree and its compiler to build; this is a
 * screen. It must not know any schema.
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_PROTOBUF_H
#define GPUMEMTRACE_ANALYZER_EXPORT_PROTOBUF_H

#include <stdint.h>

#include "analyzer/util/text.h"

/* Of a packed field the numbers stand one after the other, without a tag. */
void protobuf_add_varint(struct text *message, uint64_t number);
/* Also 0, for schemas that tell it from a field that is not there. */
void protobuf_put_number(struct text *message, unsigned field, uint64_t number);
/* 0 is what a reader takes for a field that is not there: it is left out. */
void protobuf_add_number(struct text *message, unsigned field, uint64_t number);
/* A text, a message, or a packed field. */
void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length);

#endif
