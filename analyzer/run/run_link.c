/* SPDX-License-Identifier: MIT */
/* Makes a link to a path that LD_PRELOAD cannot carry; see run_link.h. */
#include "run_link.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/util/hash.h"

enum { FOLDER_BYTES = 512 };

bool run_link_is_plain(const char *path)
{
    return !strpbrk(path, " \t\n:;$");
}

/* Programs load libraries through this folder, so no other user may be able to write there. */
static bool make_own_folder(char folder[FOLDER_BYTES], const char *place)
{
    struct stat found;
    if (!place || *place != '/' || !run_link_is_plain(place) ||
        snprintf(folder, FOLDER_BYTES, "%s/gpumemtrace-%u", place, (unsigned)geteuid()) >=
            FOLDER_BYTES)
        return false;
    if (mkdir(folder, 0700) && errno != EEXIST)
        return false;
    return !lstat(folder, &found) && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
           !(found.st_mode & (S_IWGRP | S_IWOTH));
}

/* Creates the link under a temporary name and renames it, because another run may use the
 * link at the same time. */
static bool make_link(const char *link, const char *target)
{
    char before[PATH_MAX], fresh[FOLDER_BYTES + 64];
    const ssize_t length = readlink(link, before, sizeof before);
    if (length == (ssize_t)strlen(target) && !memcmp(before, target, (size_t)length))
        return true;
    snprintf(fresh, sizeof fresh, "%s.%ld", link, (long)getpid());
    if (!symlink(target, fresh) && !rename(fresh, link))
        return true;
    unlink(fresh);
    return false;
}

int run_link_make(char path[PATH_MAX], bool is_folder, struct err *err)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    char folder[FOLDER_BYTES], link[FOLDER_BYTES + 32], target[PATH_MAX], file[NAME_MAX + 2] = "";
    snprintf(target, sizeof target, "%s", path);
    if (!is_folder) {
        char *slash = strrchr(target, '/');
        snprintf(file, sizeof file, "%s", slash);
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!make_own_folder(folder, places[i]))
            continue;
        snprintf(link, sizeof link, "%s/%016" PRIx64, folder,
                 hash_bytes(target, strlen(target), 0));
        if (!make_link(link, target))
            continue;
        snprintf(path, PATH_MAX, "%s%s", link, file);
        return 0;
    }
    return err_set(
        err, ERR_SYSTEM,
        "the path '%.200s' has a space, colon, semicolon or dollar sign, which LD_PRELOAD "
        "cannot carry, and no link to it can be made in /tmp; make /tmp writable, or install "
        "gpumemtrace elsewhere",
        path);
}
