/* SPDX-License-Identifier: MIT */
/* Making sure that what a format wrote has arrived; see render.h. */
#include "render.h"

#include <errno.h>
#include <string.h>

int render(const struct doc *doc, const struct format *format, FILE *out, struct err *err)
{
    if (doc_check(doc, err) || format->write(doc, out, err))
        return -1;
    errno = 0;
    if (fflush(out) || ferror(out)) {
        err_set(err, ERR_SYSTEM, "cannot write the result: %s",
                errno ? strerror(errno) : "an earlier write failed");
        return -1;
    }
    return 0;
}
