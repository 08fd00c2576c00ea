/* SPDX-License-Identifier: MIT */
/*
 * Replaces libFuzzer on a machine that lacks it: runs the target once on each file of the command
 * line, and prints the number of files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "target.h"

static int feed(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return -1;
    const long size = ftell(file);
    uint8_t *data = size >= 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        return -1;
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (feed(argv[i])) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 2;
        }
    printf("%d inputs\n", argc - 1);
    return 0;
}
