/* SPDX-License-Identifier: MIT */
/* See weights_file.h. */
#include "weights_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int weights_file_open(struct weights_file *file, const char *path, struct err *err)
{
    struct stat status;
    *file = (struct weights_file){0};
    if (stat(path, &status))
        return err_set(err, ERR_INPUT, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return err_set(err, ERR_INPUT, "is not a regular file");
    if (!(file->stream = fopen(path, "rb")))
        return err_set(err, ERR_INPUT, "%s", strerror(errno));
    file->left_bytes = (uint64_t)status.st_size;
    return 0;
}

void weights_file_close(struct weights_file *file)
{
    if (file->stream)
        fclose(file->stream);
    file->stream = NULL;
}

static int fail_truncated(struct err *err)
{
    return err_set(err, ERR_INPUT, "truncated: the file ends before its header does");
}

int weights_file_bytes(struct weights_file *file, void *buffer, size_t bytes, struct err *err)
{
    if (bytes > file->left_bytes || fread(buffer, 1, bytes, file->stream) != bytes)
        return fail_truncated(err);
    file->left_bytes -= bytes;
    return 0;
}

int weights_file_integer(struct weights_file *file, size_t bytes, uint64_t *integer,
                         struct err *err)
{
    unsigned char buffer[sizeof *integer] = {0};
    if (weights_file_bytes(file, buffer, bytes, err))
        return -1;
    *integer = 0;
    for (size_t i = bytes; i > 0; i--)
        *integer = *integer << 8 | buffer[i - 1];
    return 0;
}

int weights_file_skip(struct weights_file *file, uint64_t bytes, struct err *err)
{
    char buffer[4096];
    if (bytes > file->left_bytes)
        return fail_truncated(err);
    for (; bytes > sizeof buffer; bytes -= sizeof buffer)
        if (weights_file_bytes(file, buffer, sizeof buffer, err))
            return -1;
    return weights_file_bytes(file, buffer, (size_t)bytes, err);
}

size_t weights_file_some(void *buffer, size_t bytes, void *data)
{
    struct weights_file *file = data;
    const size_t most = bytes < file->left_bytes ? bytes : (size_t)file->left_bytes;
    const size_t got = fread(buffer, 1, most, file->stream);
    file->left_bytes -= got;
    return got;
}
