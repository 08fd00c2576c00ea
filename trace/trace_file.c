/* SPDX-License-Identifier: MIT */
/*
 * See trace_file.h. The first 100 bytes of a SQLite file show its kind.
 */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpumemtrace/version.h"

#define HEADER_BYTES 100
#define HEADER_PAGE_COUNT 28
#define HEADER_USER_VERSION 60
#define HEADER_APPLICATION_ID 68

static uint32_t big_endian(const unsigned char *header, size_t offset, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | header[offset + i];
    return value;
}

/* Returns the name of another kind of file, such as a folder; NULL: the file is regular. */
static const char *what_else(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* A file that is not regular is not opened: a pipe would wait for its writer, and opening a device
 * may have an effect. */
static int read_header(const char *path, unsigned char *header, struct stat *status,
                       struct err *err)
{
    const char *other = NULL;
    int fd = -1;
    ssize_t length = -1;
    if (stat(path, status) == 0 && !(other = what_else(status->st_mode)))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, status) == 0)
        length = read(fd, header, HEADER_BYTES);
    const int saved_errno = errno;
    if (fd >= 0)
        close(fd);
    if (other)
        err_set(err, ERR_INPUT, "%s is %s, not a trace", path, other);
    else if (length < 0)
        err_set(err, ERR_INPUT, "cannot open %s: %s", path, strerror(saved_errno));
    else if (length == 0)
        err_set(err, ERR_CUT, "%s is empty, not a trace", path);
    else if (length < 16 || memcmp(header, "SQLite format 3", 16) != 0)
        err_set(err, ERR_FOREIGN, "%s is not a trace (not a SQLite file)", path);
    else if (length < HEADER_BYTES)
        err_set(err, ERR_CUT, "%s is truncated: %zd bytes of it are there", path, length);
    else
        return 0;
    return -1;
}

bool trace_file_has(const char *path, const char *suffix)
{
    char name[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* Checks that the end of the file is not missing. SQLite would open a truncated file and would fail
 * only when it reads a missing page. A page size of 1 stands for 65536. */
static int check_end(const char *path, const unsigned char *header, const struct stat *status,
                     struct err *err)
{
    const uint32_t page_bytes = big_endian(header, 16, 2) == 1 ? 65536 : big_endian(header, 16, 2);
    const int64_t bytes = (int64_t)big_endian(header, HEADER_PAGE_COUNT, 4) * page_bytes;
    if (status->st_size >= bytes || trace_file_has(path, "-wal"))
        return 0;
    return err_set(err, ERR_CUT, "%s is truncated: %lld of %lld bytes", path,
                   (long long)status->st_size, (long long)bytes);
}

int trace_file_check_end(const char *path, struct err *err)
{
    unsigned char header[HEADER_BYTES];
    struct stat status;
    return read_header(path, header, &status, err) ? -1 : check_end(path, header, &status, err);
}

int trace_file_check(const char *path, struct err *err)
{
    unsigned char header[HEADER_BYTES];
    struct stat status;
    if (read_header(path, header, &status, err))
        return -1;
    if (big_endian(header, HEADER_APPLICATION_ID, 4) != GMT_TRACE_APPLICATION_ID)
        return err_set(err, ERR_FOREIGN, "%s is a SQLite file, but not a trace of gpumemtrace",
                       path);
    const uint32_t format = big_endian(header, HEADER_USER_VERSION, 4);
    if (format != GMT_TRACE_FORMAT) {
        const bool is_newer = format > GMT_TRACE_FORMAT;
        return err_set(err, ERR_INPUT, "%s has trace format %u, %s than %d: %s", path, format,
                       is_newer ? "newer" : "older", GMT_TRACE_FORMAT,
                       is_newer ? "read it with a newer gpumemtrace"
                                : "no release wrote it; record the program again");
    }
    return check_end(path, header, &status, err);
}
