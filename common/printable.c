/* SPDX-License-Identifier: MIT */
/*
 * See printable.h.
 */
#include "printable.h"

void printable_make(char *text)
{
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text, next = (unsigned char)text[1];
        if (byte == 0xc2 && next >= 0x80 && next < 0xa0)
            text[0] = text[1] = '?';
        else if (byte < 0x20 || byte == 0x7f)
            text[0] = '?';
    }
}
