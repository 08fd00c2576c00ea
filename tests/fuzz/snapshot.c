/* SPDX-License-Identifier: MIT */
/* The input is a memory snapshot of PyTorch. It is read as a pickle. If the snapshot is valid,
   it is imported. */
#include "analyzer/import/import.h"
#include "analyzer/import/pickle_read.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char output[sizeof fuzz_path + 16];
    struct pickle_values values;
    struct import import;
    struct err err = {0};
    if (pickle_read(&values, "input", data, size, &err))
        return err.code == ERR_NONE ? (abort(), 0) : 0;
    pickle_values_release(&values);
    fuzz_file_write("", data, size);
    if (import_open(&import, fuzz_path, "torch-snapshot", &err))
        return err.code == ERR_NONE ? (abort(), 0) : 0;
    snprintf(output, sizeof output, "%s-wal", fuzz_path); /* fuzz_file_remove removes this file */
    unlink(output);
    if (import_write(&import, output, &err) && err.code == ERR_NONE)
        abort();
    import_close(&import);
    return 0;
}
