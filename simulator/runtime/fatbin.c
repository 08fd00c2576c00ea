/* SPDX-License-Identifier: MIT */
/*
 * A fat binary is a sequence of parts, each with a header that gives its length. See fatbin.h.
 */
#include "fatbin.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define MAGIC 0xba55ed50u

struct wrapper {
    uint32_t magic, version;
    const void *data;
};

struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t pieces_bytes;
};

enum { PIECE_PTX = 1, PIECE_BINARY = 2 };

struct piece {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t body_bytes;
    uint32_t not_needed[3];
    uint32_t architecture;
};

static bool runs_on(const struct piece *piece, int capability)
{
    const int architecture = (int)piece->architecture;
    return architecture <= capability &&
           (piece->kind == PIECE_PTX ||
            (piece->kind == PIECE_BINARY && architecture / 10 == capability / 10));
}

struct choice {
    int fitting, oldest; /* 0: none yet */
};

static void choice_consider(struct choice *choice, const struct piece *piece, int capability)
{
    const int architecture = (int)piece->architecture;
    if (runs_on(piece, capability) && architecture > choice->fitting)
        choice->fitting = architecture;
    if (!choice->oldest || architecture < choice->oldest)
        choice->oldest = architecture;
}

int fatbin_architecture(const void *wrapped, int capability)
{
    const struct wrapper *wrapper = wrapped;
    const struct header *header = wrapper && wrapper->magic == WRAPPER_MAGIC ? wrapper->data : NULL;
    struct choice choice = {0, 0};
    if (!header || header->magic != MAGIC)
        return 0;
    const char *at = (const char *)header + header->header_bytes;
    uint64_t left_bytes = header->pieces_bytes;
    while (left_bytes >= sizeof(struct piece)) {
        struct piece piece;
        memcpy(&piece, at, sizeof piece);
        const uint64_t piece_bytes = piece.header_bytes + piece.body_bytes;
        if (piece_bytes < sizeof piece || piece_bytes > left_bytes)
            break;
        choice_consider(&choice, &piece, capability);
        at += piece_bytes;
        left_bytes -= piece_bytes;
    }
    return choice.fitting ? choice.fitting : choice.oldest;
}
