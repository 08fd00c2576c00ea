/* SPDX-License-Identifier: MIT */
/* Writes one HTML file that needs no other file: the page of analyzer/web/, and in it the
 * document's JSON and the labels of its keys. Both are compressed (RFC 1950) and encoded in base64,
 * so that nothing in them can be taken for markup. */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "format.h"
#include "json.h"
#include "labels.h"
#include "analyzer/web/web.h"

/* Base64 (RFC 4648): four letters for three bytes. */
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

/* Returns the text {"document":…,"labels":…}, which the caller frees; NULL and *err on failure. */
static char *json_of(const struct doc *doc, size_t *length, struct err *err)
{
    char *json = NULL;
    FILE *out = open_memstream(&json, length);
    if (out) {
        fputs("{\"document\":", out);
        json_packed(doc, out);
        fputs(",\"labels\":", out);
        const int failed = labels_write(doc, out, err) || putc('}', out) == EOF || ferror(out);
        if (!fclose(out) && !failed)
            return json;
    }
    free(json);
    err_set(err, ERR_SYSTEM, "out of memory for the page");
    return NULL;
}

static int write_data(const struct doc *doc, FILE *out, struct err *err)
{
    size_t length = 0;
    char *json = json_of(doc, &length, err);
    if (!json)
        return -1;
    uLongf packed_length = compressBound(length);
    unsigned char *packed = malloc(packed_length);
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
