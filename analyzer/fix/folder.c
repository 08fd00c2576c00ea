/* SPDX-License-Identifier: MIT */
/* Makes the folder of the traces; see folder.h. */
#include "folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_folder(char folder[PATH_MAX], const char *keep, const char *command,
                       struct err *err)
{
    const char *temporary = getenv("TMPDIR");
    if (keep && (mkdir(keep, 0777) == 0 || errno == EEXIST)) {
        if (!realpath(keep, folder))
            keep = "";
    } else if (!keep) {
        snprintf(folder, PATH_MAX, "%.3900s/gpumemtrace-%.32s.XXXXXX",
                 temporary && *temporary ? temporary : "/tmp", command);
        if (mkdtemp(folder))
            keep = folder;
    } else
        keep = "";
    if (!keep || !*keep)
        return err_set(err, ERR_SYSTEM, "cannot make a folder for the traces of the runs: %s",
                       strerror(errno));
    if (strpbrk(folder, "%*?[\\"))
        return err_set(
            err, ERR_USAGE,
            "the folder for the traces, '%.300s', has one of %%*?[\\ in its name; give another "
            "with --keep=FOLDER",
            folder);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

void folder_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Refuses a folder that holds the traces of an earlier search, because they would be mistaken for
 * the traces of this search. */
static int refuse_used(const char *folder, struct err *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/run1.log", folder);
    if (access(path, F_OK))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "option '--keep': '%.300s' holds the runs of an earlier search; give another folder",
        folder);
}

int folder_make(char folder[PATH_MAX], const char *keep, const char *command, struct err *err)
{
    if (make_folder(folder, keep, command, err))
        return -1;
    return keep ? refuse_used(folder, err) : 0;
}
