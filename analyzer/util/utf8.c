/* SPDX-License-Identifier: MIT */
/* Decodes UTF-8, shows it and counts its columns; see utf8.h. */
#include "utf8.h"

#include <string.h>

#include <inttypes.h>
#include <stdbool.h>

#include "text.h"

/*
 * Classes of lead bytes, RFC 3629, section 4: number of following bytes, smallest code point
 * allowed.
 */
struct lead {
    unsigned char mask, bits;
    unsigned following;
    uint32_t least;
};

static const struct lead leads[] = {
    {0xe0, 0xc0, 1, 0x80},
    {0xf0, 0xe0, 2, 0x800},
    {0xf8, 0xf0, 3, 0x10000},
};

/*
 * Ranges of code points in ascending order. Code points in zero_width take no column, and code
 * points in double_width take two. The ranges are whole blocks, because a wrong column in a rare
 * script only affects alignment.
 */
struct range {
    uint32_t first, last;
};

static const struct range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200c, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

/*
 * Invisible format characters and separators that turn, split or hide the text around them
 * (Unicode's Cf, Zl and Zp). The joiners U+200C and U+200D are left out, because scripts and emoji
 * need them.
 */
static const struct range hidden[] = {
    {0x00ad, 0x00ad},   {0x061c, 0x061c},   {0x070f, 0x070f},   {0x180e, 0x180e}, {0x200b, 0x200b},
    {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
};

static const struct range double_width[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static size_t finish(const char *string, const struct lead *lead, uint32_t *code)
{
    uint32_t value = (unsigned char)string[0] & (unsigned char)~lead->mask;
    for (unsigned i = 1; i <= lead->following; i++) {
        unsigned char byte = (unsigned char)string[i];
        if ((byte & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (byte & 0x3fu);
    }
    if (value < lead->least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 1;
    *code = value;
    return lead->following + 1;
}

size_t utf8_next(const char *string, uint32_t *code)
{
    unsigned char first = (unsigned char)string[0];
    if (first < 0x80) {
        *code = first;
        return 1;
    }
    *code = UTF8_REPLACEMENT;
    for (size_t i = 0; i < LENGTH(leads); i++)
        if ((first & leads[i].mask) == leads[i].bits)
            return finish(string, &leads[i], code);
    return 1;
}

size_t utf8_cut_length(const char *string, size_t most)
{
    size_t length = strnlen(string, most + 1);
    if (length <= most)
        return length;
    length = most;
    for (int i = 0; i < 3 && ((unsigned char)string[length] & 0xc0) == 0x80; i++)
        length--;
    return length;
}

static int contains(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count && ranges[i].first <= code; i++)
        if (code <= ranges[i].last)
            return 1;
    return 0;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static bool is_hidden(uint32_t code)
{
    return code >= hidden[0].first && contains(hidden, LENGTH(hidden), code);
}

/* Returns the visible form of the first code point: the text itself, or another text in buffer. */
static const char *show(const char *string, char buffer[16], size_t *length, size_t *shown)
{
    uint32_t code;
    *length = utf8_next(string, &code);
    if (!is_control(code) && code != UTF8_REPLACEMENT && !is_hidden(code)) {
        *shown = *length;
        return string;
    }
    if (is_control(code))
        *shown = (size_t)snprintf(buffer, 16, "?");
    else if (code == UTF8_REPLACEMENT)
        *shown = (size_t)snprintf(buffer, 16, "\xef\xbf\xbd");
    else
        *shown = (size_t)snprintf(buffer, 16, "\\u{%04" PRIx32 "}", code);
    return buffer;
}

size_t utf8_put(const char *string, FILE *out)
{
    char buffer[16];
    size_t length, shown;
    const char *text = show(string, buffer, &length, &shown);
    fwrite(text, 1, shown, out);
    return length;
}

void utf8_add(struct text *text, const char *string)
{
    char buffer[16];
    size_t length, shown;
    for (; *string; string += length) {
        const char *addition = show(string, buffer, &length, &shown);
        text_add_bytes(text, addition, shown);
    }
}

unsigned utf8_columns(uint32_t code)
{
    enum { FOUR_DIGITS = sizeof "\\u{202e}" - 1 };
    if (is_hidden(code))
        return code > 0xffff ? FOUR_DIGITS + 1 : FOUR_DIGITS; /* none has six digits */
    if (code < zero_width[0].first)
        return 1;
    if (contains(zero_width, LENGTH(zero_width), code))
        return 0;
    return contains(double_width, LENGTH(double_width), code) ? 2 : 1;
}

size_t utf8_text_columns(const char *string)
{
    size_t columns = 0;
    uint32_t code;
    while (*string) {
        string += utf8_next(string, &code);
        columns += utf8_columns(code);
    }
    return columns;
}
