/* SPDX-License-Identifier: MIT */
/* Checks the folders of traces and of shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check.h"
#include "analyzer/render/units.h"

#define GIB (UINT64_C(1) << 30)

enum { SHM_BYTES_SMALL = 64 << 20, MAPPED_BYTES = 4096 };

/* --- the trace --- */

/* Finds the folder in which the recorder will write the trace. It is the part of GPUMEMTRACE_OUTPUT
 * up to the last '/' that comes before any '%'. */
static void find_folder(char folder[PATH_MAX])
{
    const char *output = getenv("GPUMEMTRACE_OUTPUT");
    const size_t constant = output ? strcspn(output, "%") : 0;
    size_t length = 0;
    for (size_t i = 0; i < constant; i++)
        if (output[i] == '/')
            length = i + 1;
    if (length == 0 || length >= PATH_MAX)
        snprintf(folder, PATH_MAX, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s", (int)length, output);
}

/* Maps a shared file, as the recorder does for its ring beside a trace. Returns 0 or errno. */
static int try_mapping(const char *folder)
{
    char path[PATH_MAX + 32];
    int failed = 0;
    snprintf(path, sizeof path, "%s/.gpumemtrace.XXXXXX", folder);
    const int fd = mkstemp(path);
    if (fd < 0)
        return errno;
    if (posix_fallocate(fd, 0, MAPPED_BYTES))
        failed = ENOSPC;
    void *mapped = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        failed = failed ? failed : errno;
    else
        munmap(mapped, MAPPED_BYTES);
    close(fd);
    unlink(path);
    return failed;
}

void check_place(struct finding *finding, struct checkup *checkup)
{
    char folder[PATH_MAX], shown[PATH_MAX], word[FINDING_WORD_BYTES];
    struct statvfs place;
    (void)checkup;
    find_folder(folder);
    if (!realpath(folder, shown))
        snprintf(shown, sizeof shown, "%s", folder);
    if (finding_is_shut(finding, folder))
        return;
    const bool is_missing = access(folder, F_OK) != 0;
    const int failed = is_missing ? ENOENT : try_mapping(folder);
    if (failed) {
        finding_wrong(finding, "no trace can be written in %.300s: %s", shown, strerror(failed));
        if (is_missing)
            finding_mend(finding, "mkdir -p %s", finding_word(word, shown));
        else
            finding_mend(finding, "export GPUMEMTRACE_OUTPUT=\"$HOME/gpumemtrace.%%p.db\"");
        return;
    }
    const uint64_t room_bytes =
        statvfs(folder, &place) ? UINT64_MAX : (uint64_t)place.f_bavail * place.f_frsize;
    if (room_bytes < GIB) {
        finding_wrong(finding, "%.300s has %s left, less than a ring of events may take (1 GiB)",
                      shown, BYTES_TEXT(room_bytes));
        finding_mend(finding,
                     "export GPUMEMTRACE_OUTPUT=/with/more/room/gpumemtrace.%%p.db    # or "
                     "GPUMEMTRACE_RING_MAX=64MiB");
        return;
    }
    finding_fine(finding, "traces go to %.300s, which has %s left", shown, BYTES_TEXT(room_bytes));
}

/* --- shared memory, which programs need but the recorder does not --- */

void check_shm(struct finding *finding, struct checkup *checkup)
{
    struct statvfs place;
    if (statvfs("/dev/shm", &place) || access("/dev/shm", W_OK)) {
        finding_wrong(finding, "/dev/shm cannot be written: PyTorch's workers and NCCL need it");
        finding_mend(finding, "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
        return;
    }
    const uint64_t size_bytes = (uint64_t)place.f_blocks * place.f_frsize;
    if (size_bytes && size_bytes <= SHM_BYTES_SMALL)
        finding_note(
            finding,
            "/dev/shm has %s: PyTorch's data loaders with workers and NCCL may die of it%s",
            BYTES_TEXT(size_bytes), checkup->container ? "; docker run --shm-size=8g" : "");
    else
        finding_fine(finding, "/dev/shm has %s left",
                     BYTES_TEXT((uint64_t)place.f_bavail * place.f_frsize));
}
