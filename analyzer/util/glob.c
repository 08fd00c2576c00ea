/* SPDX-License-Identifier: MIT */
/*
 * See glob.h. Stars divide a pattern into pieces. The first piece must match at the start of the
 * text, and the last piece must match at the end. Each piece in between is placed at its first
 * match after the piece before it.
 */
#include "glob.h"

#include <string.h>

struct piece {
    const char *start, *end; /* in the pattern */
    size_t width;            /* bytes of text that it matches */
    bool is_plain;           /* without ? and [abc] */
};

/* Returns the length of one byte of the pattern, or of a set such as [abc]. */
static size_t unit_length(const char *unit)
{
    const char *close = *unit == '[' && unit[1] ? strchr(unit + 2, ']') : NULL;
    return close ? (size_t)(close - unit) + 1 : 1;
}

static struct piece piece_at(const char *pattern)
{
    struct piece piece = {.start = pattern, .end = pattern, .is_plain = true};
    while (*piece.end && *piece.end != '*') {
        const size_t length = unit_length(piece.end);
        piece.is_plain &= length == 1 && *piece.end != '?';
        piece.end += length;
        piece.width++;
    }
    return piece;
}

/* True if the piece matches at `text`, which has at least piece->width bytes. */
static bool stands_at(const struct piece *piece, const char *text)
{
    if (piece->is_plain)
        return !memcmp(piece->start, text, piece->width);
    for (const char *unit = piece->start; unit < piece->end; text++) {
        const size_t length = unit_length(unit);
        if (length == 1 ? *unit != '?' && *unit != *text : !memchr(unit + 1, *text, length - 2))
            return false;
        unit += length;
    }
    return true;
}

static const char *find_piece(const struct piece *piece, const char *text, const char *end)
{
    if (piece->is_plain)
        return memmem(text, (size_t)(end - text), piece->start, piece->width);
    for (; (size_t)(end - text) >= piece->width; text++)
        if (stands_at(piece, text))
            return text;
    return NULL;
}

/* Compares only the first and the last byte. This check is fast, and most texts do not match. */
static bool may_match(const char *pattern, const char *text)
{
    if (!strchr("*?[", *pattern) && *pattern != *text)
        return false;
    const size_t width = strlen(pattern), length = strlen(text);
    if (!width || !length)
        return true;
    const char last = pattern[width - 1];
    return strchr("*?]", last) || last == text[length - 1];
}

bool glob_match(const char *pattern, const char *text)
{
    if (!may_match(pattern, text))
        return false;
    const char *end = text + strlen(text);
    struct piece piece = piece_at(pattern);
    if ((size_t)(end - text) < piece.width || !stands_at(&piece, text))
        return false;
    text += piece.width;
    if (!*piece.end)
        return text == end;
    for (piece = piece_at(piece.end + 1); *piece.end; piece = piece_at(piece.end + 1)) {
        text = find_piece(&piece, text, end);
        if (!text)
            return false;
        text += piece.width;
    }
    return (size_t)(end - text) >= piece.width && stands_at(&piece, end - piece.width);
}
