/* SPDX-License-Identifier: MIT */
/* Encodes Protocol Buffers; see protobuf.h. */
#include "protobuf.h"

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, WIRE_BITS = 3 };

/* Seven bits per byte, the lowest first; the highest bit is set if more bytes follow. */
void protobuf_add_varint(struct text *message, uint64_t number)
{
    char bytes[10];
    size_t length = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[length++] = (char)(0x80 | (number & 0x7f));
    bytes[length++] = (char)number;
    text_add_bytes(message, bytes, length);
}

void protobuf_put_number(struct text *message, unsigned field, uint64_t number)
{
    protobuf_add_varint(message, field << WIRE_BITS | WIRE_VARINT);
    protobuf_add_varint(message, number);
}

void protobuf_add_number(struct text *message, unsigned field, uint64_t number)
{
    if (number)
        protobuf_put_number(message, field, number);
}

void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length)
{
    protobuf_add_varint(message, field << WIRE_BITS | WIRE_LENGTH);
    protobuf_add_varint(message, length);
    text_add_bytes(message, bytes, length);
}
