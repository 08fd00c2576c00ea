/* SPDX-License-Identifier: MIT */
/* Lines of a text file and their parts; see lines.h. */
#include "lines.h"

#include <inttypes.h>
#include <string.h>

size_t lines_start(const struct import_source *source)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    return source->length >= sizeof mark && !memcmp(source->bytes, mark, sizeof mark) ? sizeof mark
                                                                                      : 0;
}

bool lines_next(struct lines *lines)
{
    const struct import_source *source = lines->source;
    if (!lines->at)
        lines->at = lines_start(source);
    struct piece rest = {(const char *)source->bytes + lines->at, source->length - lines->at};

    if (!rest.length)
        return false;
    lines->line = piece_cut(&rest, '\n');
    lines->at = source->length - rest.length;
    lines->number++;
    if (lines->line.length && lines->line.text[lines->line.length - 1] == '\r')
        lines->line.length--;
    return true;
}

int lines_broken(const struct lines *lines, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: line %" PRIu64 ": %s", lines->source->path, lines->number,
                   what);
}

struct piece piece_cut(struct piece *rest, char byte)
{
    const char *found = rest->length ? memchr(rest->text, byte, rest->length) : NULL;
    const struct piece head = {rest->text, found ? (size_t)(found - rest->text) : rest->length};
    const size_t taken = head.length + (found != NULL);
    rest->text += taken;
    rest->length -= taken;
    return head;
}

bool piece_is(struct piece piece, const char *text)
{
    return piece.length == strlen(text) && !memcmp(piece.text, text, piece.length);
}

static unsigned digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (unsigned)(byte - '0');
    if (byte >= 'a' && byte <= 'f')
        return (unsigned)(byte - 'a') + 10;
    return byte >= 'A' && byte <= 'F' ? (unsigned)(byte - 'A') + 10 : UINT32_MAX;
}

bool piece_number(struct piece piece, unsigned base, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < piece.length; i++) {
        const unsigned digit = digit_of(piece.text[i]);

        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value;
    return piece.length && value <= most;
}
