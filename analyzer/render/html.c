/* SPDX-License-Identifier: MIT */
/*
 * One HTML file that opens anywhere: the page of analyzer/web/ around the document's JSON, which is
 * compressed (RFC 1950) and written in base64, so that nothing in it can be taken for markup.
 */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "format.h"
#include "json.h"
#include "analyzer/web/web.h"

/* Four letters for three bytes (RFC 4648). */
static void write_base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < count ? bytes[i + 2] : 0);
        putc_unlocked(letters[three >> 18], out);
        putc_unlocked(letters[three >> 12 & 63], out);
        putc_unlocked(i + 1 < count ? letters[three >> 6 & 63] : '=', out);
        putc_unlocked(i + 2 < count ? letters[three & 63] : '=', out);
    }
}

/* The caller frees it. NULL: out of memory. */
static char *json_of(const struct doc *doc, size_t *length)
{
    char *json = NULL;
    FILE *out = open_memstream(&json, length);
    if (!out)
        return NULL;
    json_compact(doc, out);
    const int failed = ferror(out);
    if (!fclose(out) && !failed)
        return json;
    free(json);
    return NULL;
}

static int write_data(const struct doc *doc, FILE *out, struct err *err)
{
    size_t length = 0;
    char *json = json_of(doc, &length);
    uLongf packed_length = compressBound(length);
    unsigned char *packed = json ? malloc(packed_length) : NULL;
    const int status =
        packed ? compress(packed, &packed_length, (const Bytef *)json, length) : Z_MEM_ERROR;
    if (status == Z_OK)
        write_base64(out, packed, packed_length);
    else
        err_set(err, ERR_SYSTEM, "out of memory for the page");
    free(packed);
    free(json);
    return status == Z_OK ? 0 : -1;
}

int render_html(const struct doc *doc, FILE *out, struct err *err)
{
    fputs(web_before, out);
    if (write_data(doc, out, err))
        return -1;
    fputs(web_after, out);
    return 0;
}
