/* SPDX-License-Identifier: MIT */
/* The input is a file of weights. It is read as safetensors and as GGUF. The target checks that
   the tensors have no more bytes than the file, and that each tensor is found by its name. */
#include "analyzer/estimate/weights/weights.h"
#include "file.h"

typedef int read_weights(struct weights *weights, const char *path, struct err *err);

static void look(read_weights *reads, size_t size)
{
    struct weights weights = {0};
    struct err err = {0};
    if (reads(&weights, fuzz_path, &err)) {
        if (err.code == ERR_NONE)
            abort();
    } else if (weights.bytes > size) {
        abort();
    }
    for (size_t i = 0; err.code == ERR_NONE && i < weights.count; i++)
        if (weights_find(&weights, weights.items[i].name) != &weights.items[i])
            abort();
    weights_release(&weights);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file_write("", data, size);
    look(weights_read_safetensors, size);
    look(weights_read_gguf, size);
    return 0;
}
