/* SPDX-License-Identifier: MIT */
/* Writes opcodes of a pickle; see pickle.h. */
#include "pickle.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

enum {
    PROTO = 0x80,
    TUPLE2 = 0x86,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8a,
    BINUNICODE = 'X',
    BININT1 = 'K',
    BININT2 = 'M',
    MARK = '(',
    LONG_BINPUT = 'r',
    LONG_BINGET = 'j',
    STOP = '.',
};
enum { PROTOCOL = 2 };

/* Little endian. */
static void put_bytes(struct pickle *pickle, uint64_t number, int count)
{
    for (; count > 0; count--, number >>= 8)
        putc((int)(number & 0xff), pickle->out);
}

void pickle_put(struct pickle *pickle, const char *opcodes)
{
    fputs(opcodes, pickle->out);
}

static void put(struct pickle *pickle, int opcode)
{
    putc(opcode, pickle->out);
}

void pickle_begin(struct pickle *pickle, FILE *out)
{
    *pickle = (struct pickle){.out = out};
    put(pickle, PROTO);
    put(pickle, PROTOCOL);
}

void pickle_end(struct pickle *pickle)
{
    put(pickle, STOP);
}

void pickle_release(struct pickle *pickle)
{
    text_set_release(&pickle->texts);
    free(pickle->memos);
    *pickle = (struct pickle){0};
}

int pickle_text(struct pickle *pickle, const char *text, struct err *err)
{
    const size_t known = pickle->texts.count, length = strlen(text);
    const uint32_t number = text_set_add(&pickle->texts, text, err);
    if (number == TEXT_SET_NONE)
        return -1;
    if (number < known) {
        pickle_recall(pickle, pickle->memos[number]);
        return 0;
    }
    if (ARRAY_GROW(pickle->memos, pickle->memo_capacity, number, err))
        return -1;
    put(pickle, BINUNICODE);
    put_bytes(pickle, length, 4);
    fwrite(text, 1, length, pickle->out);
    pickle->memos[number] = pickle_remember(pickle);
    return 0;
}

/* LONG1 is signed, so a number with its highest bit set takes one more byte. */
void pickle_number(struct pickle *pickle, uint64_t number)
{
    int length = 1;
    if (number <= UINT16_MAX) {
        put(pickle, number <= UINT8_MAX ? BININT1 : BININT2);
        put_bytes(pickle, number, number <= UINT8_MAX ? 1 : 2);
        return;
    }
    while (length < 8 && number >> (8 * length - 1))
        length++;
    length += number >> (8 * length - 1) ? 1 : 0;
    put(pickle, LONG1);
    put(pickle, length);
    put_bytes(pickle, number, length);
}

void pickle_bool(struct pickle *pickle, bool truth)
{
    put(pickle, truth ? NEWTRUE : NEWFALSE);
}

void pickle_pair_of_zeros(struct pickle *pickle)
{
    pickle_number(pickle, 0);
    pickle_number(pickle, 0);
    put(pickle, TUPLE2);
}

uint32_t pickle_remember(struct pickle *pickle)
{
    put(pickle, LONG_BINPUT);
    put_bytes(pickle, pickle->memo_count, 4);
    return pickle->memo_count++;
}

void pickle_recall(struct pickle *pickle, uint32_t memo)
{
    put(pickle, LONG_BINGET);
    put_bytes(pickle, memo, 4);
}

void pickle_resume_list(struct pickle *pickle, uint32_t memo)
{
    pickle_recall(pickle, memo);
    put(pickle, MARK);
}
