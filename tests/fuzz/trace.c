/* SPDX-License-Identifier: MIT */
/* The input is a trace file. It is loaded, replayed and described as `report` does. */
#include "analyzer/page/page.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct view view = {.device = -1};
    struct doc *doc = NULL;
    struct err err = {0};
    fuzz_file_remove();
    fuzz_file_write("", data, size);
    if (page_build(&doc, DOC_DETAIL, &page_report, &view, fuzz_path, &err) == 0)
        doc_free(doc);
    else if (err.code == ERR_NONE || !*err.message)
        abort();
    return 0;
}
