/* SPDX-License-Identifier: MIT */
/*
 * One temporary file of this process, for targets that read a path. The file is in memory if the
 * machine has /dev/shm. It is removed at exit.
 */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "target.h"

static char fuzz_path[64];

static inline void fuzz_file_remove(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-ring.0"};
    for (size_t i = 0; *fuzz_path && i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[sizeof fuzz_path + 16];
        snprintf(name, sizeof name, "%s%s", fuzz_path, suffixes[i]);
        unlink(name);
    }
}

static inline void fuzz_file_write(const char *suffix, const void *data, size_t size)
{
    char name[sizeof fuzz_path + 16];
    if (!*fuzz_path) {
        snprintf(fuzz_path, sizeof fuzz_path, "%s/gpumemtrace-fuzz.%d",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
        atexit(fuzz_file_remove);
    }
    snprintf(name, sizeof name, "%s%s", fuzz_path, suffix);
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}
