/* SPDX-License-Identifier: MIT */
/* Encodes messages of Protocol Buffers, as far as a writer needs it: numbers, and fields with a
 * length. These few lines replace a generated encoder, which would need the schema's file in the
 * tree and its compiler in the build. */
#pragma once

#include <stdint.h>

#include "analyzer/util/text.h"

/* Adds a number without a tag: the numbers of a packed field follow each other like this. */
void protobuf_add_varint(struct text *message, uint64_t number);
/* Adds a field even if its number is 0, for schemas in which a missing field is not 0. */
void protobuf_put_number(struct text *message, unsigned field, uint64_t number);
/* Adds a field unless its number is 0, because readers take a missing field for 0. */
void protobuf_add_number(struct text *message, unsigned field, uint64_t number);
/* Adds a field with a length: a text, a message, or packed numbers. */
void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length);
